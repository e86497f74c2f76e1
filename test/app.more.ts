import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { buildApp } from '../app.ts'
import { readConfig } from '../src/config.ts'
import { makeFolder } from './support/folder.ts'
import { addLicense, openTestDatabase } from './support/site.ts'
import { makeEmbeddedFolder } from './support/test-database.ts'

t.test('without options the app serves its routes from an embedded database in ./data', async t => {
  const folder = makeFolder(t)
  const dataDir = makeEmbeddedFolder(t)
  await rename(dataDir, join(folder, 'data'))
  t.chdir(folder)
  const app = await buildApp()
  t.teardown(() => app.close())
  for (const host of ['localhost:3000', '127.0.0.1:3000']) {
    const response = await app.inject({ url: '/', headers: { host, accept: 'application/json' } })
    t.equal(response.statusCode, 200)
    t.ok(response.json().museums.length > 0)
  }
  t.equal((await app.inject({ url: '/', headers: { host: 'protected.localhost' } })).statusCode, 401)
})

t.test('an app whose routes fail to register closes its database', async t => {
  const config = readConfig({ DATA_DIR: makeEmbeddedFolder(t) })
  await t.rejects(
    buildApp({
      config,
      async routes() {
        throw new Error('No routes today.')
      },
    }),
    { message: 'No routes today.' },
  )
  const app = await buildApp({ config })
  t.equal((await app.inject({ url: '/', headers: { host: 'localhost' } })).statusCode, 200)
  await app.close()
})

t.test('COOKIE_SECRET is a list: the first secret signs cookies, all of them verify', async t => {
  const [first, second] = ['1'.repeat(32), '2'.repeat(32)]
  const database = await openTestDatabase(t)
  await addLicense(database, { domain: 'museum.test' })
  async function cookieOf(secrets: string, cookie?: string) {
    const app = await buildApp({
      database,
      config: readConfig({ COOKIE_SECRET: secrets }),
      async routes(app) {
        app.get('/', async (request, reply) =>
          reply.setCookie('seen', 'yes', { signed: true }).send(request.unsignCookie(request.cookies['seen'] ?? '')),
        )
      },
    })
    const response = await app.inject({
      url: '/',
      headers: { host: 'museum.test', ...(cookie !== undefined && { cookie: `seen=${cookie}` }) },
    })
    await app.close()
    return { signed: response.cookies[0]?.value ?? '', known: response.json() }
  }
  const { signed } = await cookieOf(first)
  t.match((await cookieOf(`${second},${first}`, signed)).known, { valid: true, value: 'yes' })
  t.match((await cookieOf(second, signed)).known, { valid: false })
})
