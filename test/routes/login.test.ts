import { once } from 'node:events'
import { request as startRequest } from 'node:http'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import {
  addLicense,
  addUser,
  build,
  cookieOf,
  newAddress,
  openTestDatabase,
  setCookieOf,
  signIn,
  testPassword,
} from '../support/site.ts'
import { stopClock } from '../support/clock.ts'
import { buildDebugged } from '../plugins/debug/panels/panels.ts'

const host = 'protected.test'
const email = 'member@museum.test'
const browser = 'text/html,application/xhtml+xml,*/*;q=0.8'
const formType = 'application/x-www-form-urlencoded'
const database = await openTestDatabase(t)
const license = await addLicense(database, {
  domain: host,
  name: 'House & <Home>',
  protected: true,
  languages: ['en', 'de', 'fr'],
})
await addUser(database, { email, licenses: [license] })
await addUser(database, { email: 'colleague@museum.test', licenses: [license] })

async function routes(app: FastifyInstance) {
  app.get('/', async request => `${request.user?.email} is inside`)
}

const app = await build(t, { database, routes })

/** Posts a form, or JSON. */
async function post(
  payload: string | object,
  headers: Record<string, string> = {},
  { remoteAddress = newAddress(), to = app } = {},
) {
  const contentType = typeof payload === 'string' && { 'content-type': formType }
  const sent = { host, ...contentType, ...headers }
  return await to.inject({ method: 'POST', url: '/login', remoteAddress, headers: sent, payload })
}

function form(fields: Record<string, string>): string {
  return new URLSearchParams({ email, password: testPassword, ...fields }).toString()
}

async function ask(cookie: string) {
  return await app.inject({ url: '/', headers: { host, cookie } })
}

t.test("the form works without JavaScript, in the visitor's language, and is not stored", async t => {
  const open = (locale: string) =>
    app.inject({ url: '/login?next=%2Fa%3Fb', headers: { host, 'accept-language': locale } })
  const { statusCode, body, headers } = await open('de')
  t.equal(statusCode, 200)
  t.match(body, '<html lang="de">')
  t.match(body, '<title>Anmelden &ndash; House &#38; &#60;Home&#62;</title>')
  t.match(body, '<form method="post" action="/login?_locale=de" class="fields">')
  t.match(body, '<input type="hidden" name="next" value="/a?b">')
  t.notMatch(body, '<script')
  t.equal(headers['cache-control'], 'no-store')
  t.match(headers['content-security-policy'], "frame-ancestors 'none'")
  t.match(headers.vary, 'Cookie')
  t.match((await open('fr')).body, '<h1>Connexion</h1>')
})

t.test('a correct form signs in and returns to where the visitor was', async t => {
  const response = await post(form({ next: '/?a=b' }), { accept: browser, 'sec-fetch-site': 'same-origin' })
  t.match(response, { statusCode: 303, headers: { location: '/?a=b' } })
  t.match(setCookieOf(response), /^portico_session=[\w-]{108}; Path=\/; HttpOnly; SameSite=Lax$/)
  t.equal((await ask(cookieOf(response))).body, `${email} is inside`)
})

t.test('"remember me" keeps the cookie for 30 days', async t => {
  stopClock(t)
  const response = await post(form({ remember: 'on' }))
  const month = 30 * 24 * 60 * 60 * 1000
  t.match(setCookieOf(response), `; Expires=${new Date(Date.now() + month).toUTCString()};`)
})

t.test('a program signs in with JSON and gets a 204', async t => {
  const response = await post({ email: email.toUpperCase(), password: testPassword, remember: true })
  t.strictSame([response.statusCode, response.body], [204, ''])
  t.match(setCookieOf(response), 'Expires=')
  t.equal((await ask(cookieOf(response))).body, `${email} is inside`)
})

t.test(
  'addresses and passwords match regardless of their Unicode form, and addresses of capitals and blanks',
  async t => {
    const password = 'Gem\u00e4ldegalerie'
    await addUser(database, { email: 'zo\u00eb@m\u00fcseum.test', password, licenses: [license] })
    for (const written of ['zo\u00eb@m\u00fcseum.test', 'zoe\u0308@mu\u0308seum.test', ' ZO\u00eb@m\u00fcseum.TEST ']) {
      t.equal((await post({ email: written, password })).statusCode, 204, written)
    }
    t.equal((await post({ email: 'zo\u00eb@m\u00fcseum.test', password: 'Gema\u0308ldegalerie' })).statusCode, 204)
  },
)

const refused: Record<string, Record<string, string>> = {
  'a wrong password': { password: 'wrong' },
  'a right password in capitals': { password: testPassword.toUpperCase() },
  'the password and a zero byte': { password: `${testPassword}\0` },
  'half a surrogate pair': { password: '\ud800' },
  'an unknown e-mail address': { email: 'nobody@museum.test' },
  'an e-mail address that is SQL': { email: "'or/**/true--@museum.test" },
  'an e-mail address of wildcards': { email: '%@%' },
}

for (const [what, fields] of Object.entries(refused)) {
  t.test(`${what} is refused without saying which half was wrong`, async t => {
    const response = await post({ email, password: testPassword, ...fields })
    t.match(response.json(), { status: 401, detail: 'The e-mail address or the password is wrong.' })
    t.equal(response.headers['content-type'], 'application/problem+json; charset=utf-8')
    t.equal(response.headers['www-authenticate'], 'Cookie realm="protected.test", form-action="/login"')
    t.equal(setCookieOf(response), '')
  })
}

t.test('a stored password that is not a hash matches no password', async t => {
  await database.db.insertInto('users').values({ email: 'broken@museum.test', password_hash: 'secret' }).execute()
  t.equal((await post({ email: 'broken@museum.test', password: 'secret' })).statusCode, 401)
})

t.test('a rejected form comes back with everything but the password', async t => {
  const entered = form({ email: '"a"@<b>', password: 'hunter2hunter2', next: '/?a=b', remember: 'on' })
  const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'same-origin' }
  for (const to of [app, await buildDebugged(t, { database, routes })]) {
    const { statusCode, headers, body } = await post(entered, { accept: browser, ...navigation }, { to })
    t.equal(statusCode, 401)
    t.match(body, '<p class="problem" role="alert">The e-mail address or the password is wrong.</p>')
    t.match(body, 'value="&#34;a&#34;@&#60;b&#62;"')
    t.match(body, '<input type="hidden" name="next" value="/?a=b">')
    t.match(body, 'value="on" checked>')
    t.notMatch(body, 'hunter2')
    t.match(headers.vary, /\bAccept(?:,|$)/)
    t.match(headers['www-authenticate'], /^Cookie /)
  }
})

for (const next of ['//evil.test', '/\\evil.test', 'x'.repeat(10_000)]) {
  t.test(`next=${JSON.stringify(next).slice(0, 40)} leads to no other site`, async t => {
    t.match(await post(form({ next })), { statusCode: 303, headers: { location: '/' } })
    const field = 'name="next" value="/"'
    t.match((await app.inject({ url: `/login?next=${encodeURIComponent(next)}`, headers: { host } })).body, field)
    t.match((await post(form({ next, password: 'wrong' }), { accept: browser })).body, field)
  })
}

const asJson = { 'content-type': 'application/json' }
const typeless = /Unsupported Media Type/
const notText = /^body\/password must be string/
const notAddress = /^body\/email must match/

/** What is no attempt to sign in, the answer's status, its reason, and other headers of the request. */
const malformed: Record<string, [string | object, status: number, reason: RegExp, headers?: Record<string, string>]> = {
  'no body': ['', 400, /^body must /],
  'no password': ['email=a@b', 400, /'password'/],
  'an empty password': ['email=a@b&password=', 400, /^body\/password /],
  'two next': [`${form({ next: '/' })}&next=/a`, 400, /^body\/next must be string/],
  'an address without an @': ['email=ab&password=a', 400, /^body\/email must match format "email"/],
  'an address with a zero byte': ['email=a@b%00&password=a', 400, notAddress],
  'an address of 300 characters': [{ email: `${'a'.repeat(300)}@b`, password: 'a' }, 400, /^body\/email must NOT/],
  'a password of 1025 characters': [{ email, password: 'a'.repeat(1025) }, 400, /^body\/password must NOT have more/],
  'a password that is an object': [{ email, password: { $ne: '' } }, 400, notText],
  'a remember that is not a boolean': [{ email, password: 'a', remember: 'no' }, 400, /^body\/remember must be/],
  'truncated JSON': ['{"email":', 400, /JSON/, asJson],
  'JSON that would pollute a prototype': ['{"__proto__":{"password":"a"}}', 400, /__proto__|JSON/, asJson],
  'a password of 100 kB': [{ email, password: 'a'.repeat(100_000) }, 413, /too large/],
  'plain text': [form({}), 415, typeless, { 'content-type': 'text/plain' }],
}

for (const [what, [payload, status, reason, headers]] of Object.entries(malformed)) {
  t.test(`${what} is refused with a ${status} and a reason, and signs nobody in`, async t => {
    const response = await post(payload, headers)
    t.match(response.json(), { status, detail: reason })
    t.equal(setCookieOf(response), '')
    t.match(await post(payload, { accept: browser, ...headers }), { statusCode: status, body: '<!doctype html>' })
  })
}

t.test('an incomplete form comes back with a message', async t => {
  const { body } = await post('email=a@b&password=', { accept: browser })
  t.match(body, 'Enter an e-mail address and a password.')
})

t.test('two values of next in the address of the form are refused', async t => {
  const response = await app.inject({ url: '/login?next=/a&next=/b', headers: { host } })
  t.match(response.json(), { status: 400, detail: 'querystring/next must be string' })
})

t.test('a form from another site signs nobody in and nobody out', async t => {
  const headers = { 'sec-fetch-site': 'cross-site' }
  const response = await post(form({}), headers)
  t.match(response.json(), { status: 403, detail: 'This request came from another site.' })
  t.equal(setCookieOf(response), '')
  const cookie = await signIn(app, { host, email })
  const signingOut = await app.inject({ method: 'POST', url: '/logout', headers: { host, cookie, ...headers } })
  t.equal(signingOut.statusCode, 403)
  t.equal((await ask(cookie)).statusCode, 200)
})

t.test('behind a proxy the Origin is compared with the forwarded host', async t => {
  const to = await build(t, { database, routes, environment: { TRUST_PROXY: 'loopback' } })
  const forwarded = { host: 'backend:3000', 'x-forwarded-host': host, 'x-forwarded-proto': 'https' }
  for (const [origin, status] of [
    [`https://${host}`, 303],
    ['https://backend:3000', 403],
  ] as const) {
    const response = await post(form({}), { ...forwarded, origin }, { remoteAddress: '127.0.0.1', to })
    t.equal(response.statusCode, status)
  }
})

t.test('signing in replaces a cookie that was set before', async t => {
  const fixed = `portico_session=${'A'.repeat(108)}`
  const response = await post(form({}), { cookie: fixed })
  t.not(cookieOf(response), fixed)
  t.equal((await ask(fixed)).statusCode, 401)
  t.equal((await ask(cookieOf(response))).statusCode, 200)
})

t.test('signing in as somebody else ends the previous session', async t => {
  const before = await signIn(app, { host, email })
  t.match(
    (await app.inject({ url: '/login', headers: { host, cookie: before } })).body,
    `<span>You are signed in as ${email}</span> <span><a href="/password">Change password</a> <button>Sign out</button></span>`,
  )
  const ended = await countEnded()
  const response = await post(form({ email: 'colleague@museum.test' }), { cookie: before })
  t.equal((await ask(cookieOf(response))).body, 'colleague@museum.test is inside')
  t.equal(await countEnded(), ended + 1)
})

async function countEnded(): Promise<number> {
  const { count } = await database.db
    .selectFrom('ended_sessions')
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

t.test('signing out clears the cookie and leads to the front page, for forms, programs and visitors alike', async t => {
  const cookie = await signIn(app, { host, email })
  for (const headers of [{ host, cookie }, { host, cookie, 'content-type': formType }, { host }]) {
    const response = await app.inject({ method: 'POST', url: '/logout', headers })
    t.match(response, { statusCode: 303, headers: { location: '/' } })
    t.match(setCookieOf(response), /^portico_session=; Max-Age=0; Path=\/;/)
  }
  const get = await app.inject({ url: '/logout', headers: { host, cookie } })
  t.match(get, { statusCode: 405, headers: { allow: 'POST' } })
})

t.test('an address gets 20 attempts a minute, successful ones included, and then a 429 in every format', async t => {
  const remoteAddress = newAddress()
  const from = { remoteAddress }
  for (let n = 0; n < 20; n++) t.equal((await post('email=a@b', {}, from)).statusCode, 400)
  const response = await post(form({}), {}, from)
  const seconds = Number(response.headers['retry-after'])
  t.ok(seconds > 0 && seconds <= 60)
  const detail = `Too many attempts to sign in. Try again in ${seconds} seconds.`
  t.match(response.json(), { status: 429, detail })
  t.equal(setCookieOf(response), '')
  const text = await post(form({}), { accept: 'text/plain' }, from)
  t.match(text, { statusCode: 429, body: /^Too many attempts to sign in. Try again in \d+ seconds.\n$/ })
  const page = await post(form({ next: '/a' }), { accept: browser }, from)
  t.match(page, { statusCode: 429, headers: { 'retry-after': /^\d+$/ } })
  t.match(page.body, 'Too many attempts to sign in. Try again in a minute.')
  t.equal((await post(form({}))).statusCode, 303, 'another address still may')
  const shown = await app.inject({ url: '/login', remoteAddress, headers: { host } })
  t.equal(shown.statusCode, 200, 'the form is still shown')
})

t.test(
  'passwords of unknown accounts are verified, too, so a flood of them is bounded, and others are served',
  async t => {
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    await ask('')
    const attempts = Array.from({ length: 60 }, (_, n) => post({ email: `flood-${n}@museum.test`, password: 'wrong' }))
    const during = startRequest(`${origin}/login`, { headers: { host } }).end()
    const [response] = await once(during, 'response')
    t.equal(response.statusCode, 200)
    response.resume()
    const answers = await Promise.all(attempts)
    const busy = answers.filter(({ statusCode }) => statusCode === 429)
    t.equal(busy[0]?.headers['retry-after'], '2')
    t.match(busy[0]?.json().detail, 'Too many people are signing in.')
    t.strictSame(new Set(answers.map(({ statusCode }) => statusCode)), new Set([401, 429]))
  },
)
