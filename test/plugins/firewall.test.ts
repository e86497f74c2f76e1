import { createHmac } from 'node:crypto'
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import type { FastifyInstance } from 'fastify'
import { Changes } from '../../src/database/changes.ts'
import { hashPassword } from '../../src/sign-in/passwords.ts'
import { lifetimes, type SessionToken, SessionTokens } from '../../src/sign-in/session-token.ts'
import {
  addLicense,
  addUser,
  build,
  cookieOf,
  heardOf,
  openTestDatabase,
  setCookieOf,
  signIn,
  testPassword,
} from '../support/site.ts'
import { stopClock } from '../support/clock.ts'
import { type SessionSecrets, signSession } from '../support/session.ts'
import { hearQueries } from '../support/sent-queries.ts'

const host = 'protected.test'
const secret = 'a secret of more than thirty-two characters'
const database = await openTestDatabase(t)
const { db } = database
const license = await addLicense(database, { domain: host, protected: true })
const other = await addLicense(database, { domain: 'other.test', protected: true })
await addLicense(database, { domain: 'open.test' })
await addUser(database, { email: 'member@museum.test', licenses: [license, other] })
await addUser(database, { email: 'stranger@museum.test', licenses: [other] })
await addUser(database, { email: 'admin@museum.test', admin: true })

async function routes(app: FastifyInstance) {
  app.get('/', async request => ({ user: request.user && request.user.email, groups: request.user?.groups.length }))
  app.get('/failing', async () => {
    throw new Error('Broken')
  })
  app.post('/', async () => 'posted')
}

/** Another server with the same sessions, unless the environment says otherwise. */
const start = (t: Test, environment: Record<string, string> = {}) =>
  build(t, { database, routes, environment: { COOKIE_SECRET: secret, ...environment } })

const app = await start(t)
const cookie = await signIn(app, { host, email: 'member@museum.test' })
const value = cookie.replace('portico_session=', '')

async function ask(
  cookie: string,
  { url = '/', host: at = host, headers = {} }: { url?: string; host?: string; headers?: Record<string, string> } = {},
  of = app,
) {
  return await of.inject({ url, headers: { host: at, cookie, ...headers } })
}

/** A cookie as the server signs it, for a user, with any parts replaced. */
async function signed(
  email: string,
  parts: Partial<SessionToken> = {},
  domain = host,
  secrets: SessionSecrets = [secret],
): Promise<string> {
  return await signSession(database, email, { secrets, domain, ...parts })
}

t.test('a signed-in user in a group of the license gets in, and routes see the user', async t => {
  const response = await ask(cookie)
  t.equal(response.statusCode, 200)
  t.strictSame(response.json(), { user: 'member@museum.test', groups: 2 })
  t.match(response.headers.vary, 'Cookie')
})

t.test('a signed-in user is known on an open site too', async t => {
  const cookie = await signIn(app, { host: 'open.test', email: 'stranger@museum.test' })
  t.match((await ask(cookie, { host: 'open.test' })).json(), { user: 'stranger@museum.test' })
  t.match((await app.inject({ url: '/', headers: { host: 'open.test' } })).json(), { user: null })
})

t.test('an admin gets in without a group', async t => {
  t.equal((await ask(await signIn(app, { host, email: 'admin@museum.test' }))).statusCode, 200)
})

t.test('a user in groups of other licenses only gets 403 and a link to sign in as somebody else', async t => {
  const cookie = await signIn(app, { host, email: 'stranger@museum.test' })
  const response = await ask(cookie, { url: '/?a=1' })
  t.equal(response.statusCode, 403)
  t.equal(response.json().detail, 'You are signed in as stranger@museum.test, but you may not enter this site.')
  t.equal(setCookieOf(response), '', 'the user stays signed in')
  const page = await ask(cookie, { url: '/?a=1', headers: { accept: 'text/html' } })
  t.equal(page.statusCode, 403)
  t.match(page.body, '<a href="/login?next=%2F%3Fa%3D1">Sign in as someone else or sign out</a>')
})

const forged: Record<string, string> = {
  nothing: '',
  "the user's id": '1',
  'the value with an extra character': `${value}A`,
  'the value with padding': `${value}=`,
  'the value with an escaped character': `%${value.charCodeAt(0).toString(16)}${value.slice(1)}`,
  'ten kilobytes': 'A'.repeat(10_000),
  'text of the same length outside ASCII': 'ä'.repeat(value.length),
}

const cleared = 'portico_session=; Max-Age=0; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Lax'

/** The status of the answer to a cookie, and the cookie that it sets. */
async function outcomeOf(...asked: Parameters<typeof ask>) {
  const response = await ask(...asked)
  return [response.statusCode, setCookieOf(response)]
}

for (const [what, value] of Object.entries(forged)) {
  t.test(`a cookie that is ${what} is rejected and cleared`, async t => {
    t.strictSame(await outcomeOf(`portico_session=${value}`), [401, cleared])
  })
}

t.test('no character of a cookie can be changed', async t => {
  const admitted = []
  for (let index = 0; index < value.length; index++) {
    for (const character of ['A', 'b', '7', '-', '_']) {
      if (value[index] === character) continue
      const { statusCode } = await ask(`portico_session=${value.slice(0, index)}${character}${value.slice(index + 1)}`)
      if (statusCode !== 401) admitted.push(index)
    }
  }
  t.strictSame(admitted, [])
})

t.test("two session cookies are both rejected, so that no attacker can add one to a browser's", async t => {
  const theirs = await signIn(app, { host, email: 'admin@museum.test' })
  t.equal((await ask(`${theirs}; ${cookie}`)).statusCode, 401)
})

t.test('the session cookie is found among others, and only by its exact name', async t => {
  t.equal((await ask(`locale=en;${cookie} ;a=b`)).statusCode, 200)
  for (const name of ['portico_session2', 'xportico_session', 'Portico_Session', '__Host-portico_session']) {
    t.equal((await ask(cookie.replace('portico_session', name))).statusCode, 401, name)
  }
})

t.test('a cookie signed with another secret or for another site is rejected', async t => {
  const others: SessionSecrets = ['another secret of thirty-two characters']
  t.equal((await ask(await signed('admin@museum.test'))).statusCode, 200)
  t.equal((await ask(await signed('admin@museum.test', {}, host, others))).statusCode, 401)
  t.equal((await ask(await signed('admin@museum.test', {}, 'other.test'))).statusCode, 401)
  t.equal((await ask(await signIn(app, { host: 'other.test', email: 'member@museum.test' }))).statusCode, 401)
  const known = await signIn(app, { host: 'other.test', email: 'stranger@museum.test' })
  t.equal((await ask(known, { headers: { host: 'other.test' } })).statusCode, 200)
  t.equal((await ask(known)).statusCode, 401, 'even after its own site has accepted it')
})

t.test('a session signed with COOKIE_SECRET itself is rejected', async t => {
  const bytes = Buffer.from(value, 'base64url').subarray(0, -32)
  const signature = createHmac('sha256', secret).update(bytes).update(host).digest()
  t.equal((await ask(`portico_session=${Buffer.concat([bytes, signature]).toString('base64url')}`)).statusCode, 401)
})

t.test('an expired cookie is rejected, to the second', async t => {
  t.strictSame(await outcomeOf(await signed('member@museum.test', { expires: Date.now() - 1000 })), [401, cleared])
})

t.test('after a rotation the old secret still verifies, and the new one signs', async t => {
  const rotated = await start(t, { COOKIE_SECRET: `${secret.toUpperCase()},${secret}` })
  t.equal((await ask(cookie, {}, rotated)).statusCode, 200)
  const later = await signIn(rotated, { host, email: 'member@museum.test' })
  t.equal((await ask(later, {}, rotated)).statusCode, 200)
  t.equal((await ask(later)).statusCode, 401)
})

t.test('without COOKIE_SECRET each start generates one', async t => {
  const [one, another] = [await start(t, { COOKIE_SECRET: '' }), await start(t, { COOKIE_SECRET: '' })]
  const cookie = await signIn(one, { host, email: 'member@museum.test' })
  t.equal((await ask(cookie, {}, one)).statusCode, 200)
  t.equal((await ask(cookie, {}, another)).statusCode, 401)
})

for (const password of ['another password', testPassword]) {
  t.test(`changing a password to "${password}" ends every session on its next request`, async t => {
    const email = `${password.replaceAll(' ', '-')}@museum.test`
    const id = await addUser(database, { email, licenses: [license] })
    const cookie = await signIn(app, { host, email, remember: true })
    t.equal((await ask(cookie)).statusCode, 200)
    const passwordHash = await hashPassword(password)
    await heardOf(database, () =>
      db.updateTable('users').set({ password_hash: passwordHash }).where('id', '=', id).execute(),
    )
    t.strictSame(await outcomeOf(cookie), [401, cleared])
  })
}

t.test('leaving a group, deleting it or deleting the user takes effect on the next request', async t => {
  const id = await addUser(database, { email: 'leaver@museum.test', licenses: [license] })
  const cookie = await signIn(app, { host, email: 'leaver@museum.test' })
  t.equal((await ask(cookie)).statusCode, 200)
  const { group_id: group } = await db
    .selectFrom('user_groups')
    .select('group_id')
    .where('user_id', '=', id)
    .executeTakeFirstOrThrow()
  for (const [change, status] of [
    [db.deleteFrom('user_groups').where('user_id', '=', id), 403],
    [db.insertInto('user_groups').values({ user_id: id, group_id: group }), 200],
    [db.updateTable('groups').set({ license_id: other }).where('id', '=', group), 403],
    [db.updateTable('groups').set({ license_id: license }).where('id', '=', group), 200],
    [db.deleteFrom('groups').where('id', '=', group), 403],
    [db.deleteFrom('users').where('id', '=', id), 401],
  ] as const) {
    await heardOf(database, () => change.execute())
    t.equal((await ask(cookie)).statusCode, status, change.compile().sql)
  }
})

/** Signs out, and waits until all servers know. @returns the cookie of the session that ended */
async function signOut(cookie: string): Promise<string> {
  await heardOf(database, () => app.inject({ method: 'POST', url: '/logout', headers: { host, cookie } }))
  return cookie
}

const signInHere = () => signIn(app, { host, email: 'member@museum.test' })

t.test("signing out ends every copy of the session's cookie, and no other session of the user", async t => {
  const [one, another] = [await signInHere(), await signInHere()]
  t.equal((await ask(one)).statusCode, 200)
  await signOut(one)
  t.equal((await ask(one)).statusCode, 401)
  t.equal((await ask(another)).statusCode, 200)
})

t.test('signing out takes effect at once, however late the database announces it', async t => {
  const deaf = await build(t, {
    database: { ...database, changes: new Changes() },
    routes,
    environment: { COOKIE_SECRET: secret },
  })
  const cookie = await signIn(deaf, { host, email: 'member@museum.test' })
  t.equal((await ask(cookie, {}, deaf)).statusCode, 200)
  await deaf.inject({ method: 'POST', url: '/logout', headers: { host, cookie } })
  t.equal((await ask(cookie, {}, deaf)).statusCode, 401)
})

t.test('signing out also ends a cookie from before its renewal', async t => {
  const old = await signed('member@museum.test', { expires: Date.now() + lifetimes.session / 2 - 1000 })
  const renewed = cookieOf(await ask(old))
  t.equal((await ask(renewed)).statusCode, 200)
  await signOut(renewed)
  t.equal((await ask(old)).statusCode, 401)
})

t.test('an ended session is deleted once its cookies have expired', async t => {
  const past = { session: 'long ago', expires_at: new Date(0) }
  await db.insertInto('ended_sessions').values(past).execute()
  await signOut(await signInHere())
  t.strictSame(await db.selectFrom('ended_sessions').where('session', '=', 'long ago').selectAll().execute(), [])
})

const farAway = 40 * 24 * 60 * 60 * 1000

/** Does something while the clock of this server, but not the database's, is wrong by this many milliseconds. */
async function whileClockIsOff<Result>(difference: number, act: () => Promise<Result>): Promise<Result> {
  mock.timers.enable({ apis: ['Date'], now: Date.now() + difference })
  try {
    return await act()
  } finally {
    mock.timers.reset()
  }
}

t.test('a session that was signed out of at a server whose clock is behind stays ended', async t => {
  const cookie = await signInHere()
  const ended = await whileClockIsOff(-farAway, async () => await signOut(cookie))
  await signOut(await signInHere())
  t.equal((await ask(ended)).statusCode, 401)
})

t.test('a request without a cookie, with a forged one, or for an unknown path reads no user', async t => {
  const fresh = await start(t)
  const read: string[] = []
  fresh.entityCache.events.on('read', ({ table }) => read.push(table))
  await fresh.inject({ url: '/', headers: { host } })
  await ask('locale=en', {}, fresh)
  await ask('portico_session=forged', {}, fresh)
  await ask(await signed('member@museum.test', { expires: 0 }), {}, fresh)
  await ask(cookie, { url: '/nowhere' }, fresh)
  t.strictSame([...new Set(read)].sort(), ['license_languages', 'licenses'])
  await ask(cookie, {}, fresh)
  t.match(new Set(read), new Set(['users', 'user_groups', 'ended_sessions']))
})

t.test('a signed-in user is cached: further requests send no query', async t => {
  const queries: string[] = []
  await ask(cookie)
  t.teardown(hearQueries(sql => queries.push(sql)))
  for (let n = 0; n < 3; n++) t.equal((await ask(cookie)).statusCode, 200)
  t.equal(queries.length, 0)
})

for (const remembered of [false, true]) {
  const lifetime = remembered ? lifetimes.remembered : lifetimes.session
  const kind = remembered ? 'a remembered session' : "a browser's session"

  t.test(`the cookie of ${kind} is renewed past half its lifetime, and left alone before`, async t => {
    stopClock(t)
    const early = await signed('member@museum.test', { remembered, expires: Date.now() + lifetime / 2 + 1000 })
    t.equal(setCookieOf(await ask(early)), '')
    const response = await ask(await signed('member@museum.test', { remembered, expires: Date.now() + lifetime / 2 }))
    t.equal(response.statusCode, 200)
    t.match(
      setCookieOf(response),
      remembered ? /; Path=\/; Expires=[^;]+ GMT; HttpOnly; SameSite=Lax$/ : /^[^;]+; Path=\/; HttpOnly; SameSite=Lax$/,
    )
    const renewed = new SessionTokens([secret]).read(cookieOf(response).replace('portico_session=', ''), host)
    t.match(renewed, { remembered, expires: Math.floor((Date.now() + lifetime) / 1000) * 1000 })
    t.equal(setCookieOf(await ask(cookieOf(response))), '', 'it is not renewed again at once')
  })
}

t.test('only a 401, of all failed answers, renews or clears a cookie', async t => {
  const aged = await signed('member@museum.test', { expires: Date.now() + 60_000 })
  for (const [url, status] of [
    ['/nowhere', 404],
    ['/failing', 500],
    ['/login/nowhere', 404],
  ] as const) {
    for (const cookie of [aged, 'portico_session=forged']) {
      const outcome = await outcomeOf(cookie, { url, host: cookie === aged ? host : 'open.test' })
      t.strictSame(outcome, [status, ''], `${url} ${cookie}`)
    }
  }
  t.strictSame(await outcomeOf(await signed('stranger@museum.test')), [403, ''])
  const wrongMethod = await app.inject({ method: 'DELETE', url: '/', headers: { host, cookie: aged } })
  t.strictSame([wrongMethod.statusCode, setCookieOf(wrongMethod)], [405, ''])
})

t.test('an open site clears an invalid cookie and answers normally', async t => {
  t.strictSame(await outcomeOf('portico_session=forged', { host: 'open.test' }), [200, cleared])
})

t.test('behind an HTTPS proxy the cookie is Secure and has the __Host- prefix', async t => {
  const behind = await start(t, { TRUST_PROXY: 'loopback' })
  const headers = { 'x-forwarded-proto': 'https' }
  const response = await behind.inject({
    method: 'POST',
    url: '/login',
    headers: { host, ...headers },
    payload: { email: 'member@museum.test', password: 'correct horse battery', remember: true },
  })
  t.match(
    setCookieOf(response),
    /^__Host-portico_session=[\w-]{108}; Path=\/; Expires=[^;]+ GMT; HttpOnly; Secure; SameSite=Lax$/,
  )
  t.equal((await ask(cookieOf(response), { headers }, behind)).statusCode, 200)
  const plain = cookieOf(response).replace('__Host-', '')
  t.equal((await ask(plain, { headers }, behind)).statusCode, 401)
  t.match(
    setCookieOf(await ask('__Host-portico_session=forged', { headers }, behind)),
    /^__Host-portico_session=; .*Secure/,
  )
  t.equal((await ask(cookieOf(response), {}, behind)).statusCode, 401)
})
