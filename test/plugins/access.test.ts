import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { build } from '../support/build.ts'
import { heardOf } from '../support/heard.ts'
import { addLicense } from '../support/records.ts'
import { openTestDatabase } from '../support/test-database.ts'

const database = await openTestDatabase(t)
const id = await addLicense(database, { domain: 'museum.test' })
await addLicense(database, { domain: 'protected.test', protected: true })

async function routes(app: FastifyInstance) {
  app.get('/', async () => 'inside')
  app.post('/', async () => 'inside')
  app.get('/open', { config: { license: 'optional' } }, async () => 'inside')
}

const app = await build(t, { database, routes })

t.test('an unprotected license lets anybody in', async t => {
  t.equal((await app.inject({ url: '/', headers: { host: 'museum.test' } })).body, 'inside')
})

for (const url of ['/', '/open']) {
  t.test(`${url} of a protected license asks visitors to sign in`, async t => {
    const response = await app.inject({ url, headers: { host: 'protected.test' } })
    t.equal(response.statusCode, 401)
    t.equal(response.headers['www-authenticate'], 'Cookie realm="protected.test", form-action="/login"')
    t.equal(response.json().detail, 'Sign in to enter this site.')
  })
}

t.test('a browser is redirected to sign in, with the way back in "next"', async t => {
  for (const [url, next] of [
    ['/', '%2F'],
    ['/?a=b&c=%2F/d?', '%2F%3Fa%3Db%26c%3D%252F%2Fd%3F'],
    ['/open?next=//evil.test', '%2Fopen%3Fnext%3D%2F%2Fevil.test'],
  ]) {
    const response = await app.inject({
      url: String(url),
      headers: { host: 'protected.test', accept: 'text/html,*/*;q=0.8' },
    })
    t.equal(response.statusCode, 302)
    t.equal(response.headers.location, `/login?next=${next}`)
    t.equal(response.headers.vary, 'Cookie, Accept')
  }
})

t.test('HEAD is redirected to sign in, but POST gets a 401 page with a link', async t => {
  const headers = { host: 'protected.test', accept: 'text/html' }
  t.equal((await app.inject({ method: 'HEAD', url: '/', headers })).statusCode, 302)
  const response = await app.inject({ method: 'POST', url: '/', headers })
  t.equal(response.statusCode, 401)
  t.match(response.body, '<a href="/login">Sign in</a>')
})

t.test('a path without a route is a 404 on a protected site too', async t => {
  t.equal(
    (await app.inject({ url: '/nowhere', headers: { host: 'protected.test', accept: 'text/html' } })).statusCode,
    404,
  )
})

t.test('a license that becomes protected requires signing in from the next request on', async t => {
  await heardOf(database, () =>
    database.db.updateTable('licenses').set({ protected: true }).where('id', '=', id).execute(),
  )
  t.equal((await app.inject({ url: '/', headers: { host: 'museum.test' } })).statusCode, 401)
})
