import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { build } from '../build.ts'
import { nextChange } from '../next-change.ts'
import { addLicense } from '../records.ts'
import { openTestDatabase } from '../test-database.ts'

const database = await openTestDatabase(t)
const id = await addLicense(database, { domain: 'museum.test' })
await addLicense(database, { domain: 'protected.test', protected: true })

async function routes (app: FastifyInstance) {
  app.get('/', async () => 'inside')
  app.get('/open', { config: { license: 'optional' } }, async () => 'inside')
}

const app = await build(t, { database, routes })

t.test('a license that is not protected lets anybody in', async t => {
  t.equal((await app.inject({ url: '/', headers: { host: 'museum.test' } })).body, 'inside')
})

for (const url of ['/', '/open']) {
  t.test(`${url} of a protected license asks who is not signed in to sign in`, async t => {
    const response = await app.inject({ url, headers: { host: 'protected.test' } })
    t.equal(response.statusCode, 401)
    t.equal(response.headers['www-authenticate'], 'Session realm="protected.test"')
    t.equal(response.json().detail, 'Sign in to enter this site.')
  })
}

t.test('a license that becomes protected is so on the next request', async t => {
  const told = nextChange(database, 'licenses', 'museum.test')
  await database.db.updateTable('licenses').set({ protected: true }).where('id', '=', id).execute()
  await told
  t.equal((await app.inject({ url: '/', headers: { host: 'museum.test' } })).statusCode, 401)
})
