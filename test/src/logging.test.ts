import t from 'tap'
import { addLicense, addUser, build, openTestDatabase, signIn } from '../support/site.ts'
import { keepLog } from '../support/log.ts'

const database = await openTestDatabase(t)
const host = 'museum.test'
await addLicense(database, { domain: host })
await addUser(database, { email: 'admin@museum.test', password: 'hunter2-password', admin: true })

t.test('the reason for refusing a request is logged at "info"', async t => {
  const reasons = ['No route found for "GET /version"', 'Invalid Host "a..b".']
  for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']) {
    const { logger, records } = keepLog(level)
    const app = await build(t, { database, logger })
    await app.inject({ url: '/version', headers: { host } })
    await app.inject({ url: '/version', headers: { host: 'a..b' } })
    const told = records().filter(({ msg }) => reasons.includes(msg))
    t.strictSame(
      told.map(({ msg }) => msg),
      ['trace', 'debug', 'info'].includes(level) ? reasons : [],
      level,
    )
  }
})

/** Requests with a secret in each place that a client may put one in. */
function* requestsWithSecrets(cookie: string) {
  const headers = {
    host,
    authorization: 'Bearer hunter2',
    cookie: 'portico_session=hunter2; token=hunter2',
    'x-api-key': 'hunter2',
  }
  const json = { ...headers, 'content-type': 'application/json' }
  for (const path of ['/', '/version', '/login', '/%zz', '/api/users', '/api/museums']) {
    const referer = 'http://museum.test/reset?token=hunter2'
    yield { url: `${path}?token=hunter2&password=hunter2`, headers: { ...headers, referer } }
  }
  for (const referer of [
    "http://x/?name=O'Brien&token=hunter2",
    'http://x/?q=a hunter2',
    'http://user:hunter2@x/#access_token=hunter2',
    'hunter2',
    '" hunter2',
  ]) {
    yield { url: '/version', headers: { ...headers, referer } }
    yield { method: 'POST', url: '/', headers: { ...headers, referer } } as const
  }
  for (const url of ["/%zz?a='hunter2", '/version#hunter2', 'http://user:hunter2@museum.test/']) yield { url, headers }
  for (const host of ['user:hunter2@museum.test', 'x/?hunter2', 'x#hunter2']) {
    yield { url: '/version', headers: { ...headers, host } }
  }
  for (const payload of [
    '{"email":"admin@museum.test","password":"hunter2"}',
    '{"email":"other@museum.test","password":"hunter2-password"}',
    '{"password":"hunter2"}',
    '{"password":hunter2}',
    '{"password":"hunter2',
    '["hunter2"]',
    '"hunter2"',
  ]) {
    yield { method: 'POST', url: '/login', headers: json, payload } as const
    yield { method: 'POST', url: '/api/users', headers: { ...json, cookie }, payload } as const
  }
  for (const type of ['application/x-www-form-urlencoded', 'hunter2']) {
    const payload = 'email=admin%40museum.test&password=hunter2'
    yield { method: 'POST', url: '/login', headers: { ...headers, 'content-type': type }, payload } as const
  }
}

for (const DEBUG of ['0', '1']) {
  t.test(`no log line of any level has a secret that a client sent, with DEBUG=${DEBUG}`, async t => {
    const { logger, text } = keepLog('trace')
    const environment = { DEBUG, COOKIE_SECRET: 'hunter2'.repeat(5) }
    const app = await build(t, { database, logger, environment })
    const cookie = await signIn(app, { host, email: 'admin@museum.test', password: 'hunter2-password' })
    await app.inject({ url: '/', headers: { host, cookie } })
    for (const request of requestsWithSecrets(cookie)) await app.inject(request)
    await app.close()
    t.match(text(), 'incoming request')
    t.match(text(), 'A sign-in failed')
    t.notMatch(text(), /hunter2|argon2/)
    t.notMatch(text(), cookie.replace(/^[^=]*=/, ''))
  })
}
