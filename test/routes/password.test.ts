import { sql } from 'kysely'
import t from 'tap'
import { addToken } from '../support/api-token.ts'
import {
  addLicense,
  addUser,
  build,
  canSignIn,
  cookieOf,
  newAddress,
  openTestDatabase,
  postForm,
  setCookieOf,
  signIn,
  testPassword,
} from '../support/site.ts'

const host = 'museum.test'
const database = await openTestDatabase(t)
await addLicense(database, { domain: host, languages: ['en', 'de', 'fr'] })
await addLicense(database, { domain: 'protected.test', protected: true })
const app = await build(t, { database })

const fresh = 'a fresh password'
let users = 0

/** Adds a user. @returns their e-mail address, and ways to sign in and to change the password */
async function someone() {
  const email = `user-${users++}@museum.test`
  await addUser(database, { email })
  return {
    email,
    signIn: async (remember = false) => await signIn(app, { host, email, remember }),
    canSignIn: async (password: string) => await canSignIn(app, { host, email, password }),
    change: async (cookie: string, fields: object = {}, headers: object = {}, remoteAddress = newAddress()) => {
      const filled = { current_password: testPassword, password: fresh, repeated_password: fresh, ...fields }
      return await postForm(app, '/password', filled, { headers: { host, cookie, ...headers }, remoteAddress })
    },
  }
}

async function whoIs(cookie: string): Promise<string> {
  const { body } = await app.inject({ url: '/', headers: { host, cookie, accept: 'text/html' } })
  return /<span>([^<]*@[^<]*)<\/span>/.exec(body)?.[1] ?? 'nobody'
}

t.test('who is signed in finds a form that tells password managers which password is which', async t => {
  const one = await someone()
  const cookie = await one.signIn()
  const front = await app.inject({ url: '/', headers: { host, cookie, accept: 'text/html' } })
  t.match(front.body, '<a href="/password">Change password</a>')
  const page = await app.inject({ url: '/password', headers: { host, cookie } })
  t.equal(page.statusCode, 200)
  t.equal(page.headers['cache-control'], 'no-store')
  t.match(page.body, /name="current_password"[^>]* autocomplete="current-password"/)
  t.match(page.body, /name="password"[^>]* minlength="8"[^>]* autocomplete="new-password"/)
  t.match(page.body, /name="repeated_password"[^>]* autocomplete="new-password"/)
  t.match(page.body, `value="${one.email}" autocomplete="username"`)
  for (const [locale, title] of [
    ['de', 'Passwort ändern'],
    ['fr', 'Changer le mot de passe'],
  ]) {
    const { body } = await app.inject({ url: `/password?_locale=${locale}`, headers: { host, cookie } })
    t.match(body, `<h1>${title}</h1>`)
  }
})

t.test('who is not signed in is sent to the sign-in page and back', async t => {
  const { statusCode, headers } = await app.inject({ url: '/password', headers: { host, accept: 'text/html' } })
  t.equal(statusCode, 302)
  t.equal(headers.location, '/login?next=%2Fpassword')
  t.equal((await app.inject({ url: '/password', headers: { host } })).statusCode, 401)
  const one = await someone()
  t.equal((await one.change('')).statusCode, 401)
  t.equal((await one.change('portico_session=forged')).statusCode, 401)
  const token = await addToken(database, one.email)
  t.equal((await one.change('', {}, { authorization: `Bearer ${token}` })).statusCode, 401, 'a token does not count')
})

t.test('a visitor whom a site does not admit can still change the password there', async t => {
  const one = await someone()
  const cookie = await signIn(app, { host: 'protected.test', email: one.email })
  t.equal((await app.inject({ url: '/password', headers: { host: 'protected.test', cookie } })).statusCode, 200)
})

t.test('a change ends all other sessions, and this one goes on', async t => {
  const one = await someone()
  const [here, there, remembered] = [await one.signIn(), await one.signIn(), await one.signIn(true)]
  const changed = await one.change(here)
  t.equal(changed.statusCode, 200)
  t.match(changed.body, /<h1>Your password has been changed<\/h1>/)
  t.equal(changed.headers['cache-control'], 'no-store')
  t.notMatch(setCookieOf(changed), /Expires/)
  t.equal(await whoIs(cookieOf(changed)), one.email)
  for (const ended of [here, there, remembered]) t.equal(await whoIs(ended), 'nobody')
  t.ok(await one.canSignIn(fresh))
  t.notOk(await one.canSignIn(testPassword))
})

t.test('a remembered session goes on as a remembered one', async t => {
  const one = await someone()
  t.match(setCookieOf(await one.change(await one.signIn(true))), /Expires/)
})

t.test('programs may send JSON', async t => {
  const one = await someone()
  const cookie = await one.signIn()
  const send = async (fields: object) => {
    const payload = { current_password: testPassword, password: fresh, repeated_password: fresh, ...fields }
    return await app.inject({ method: 'POST', url: '/password', headers: { host, cookie }, payload })
  }
  const wrong = await send({ current_password: 'wrong' })
  t.match(wrong.json(), { status: 403, detail: 'The current password is wrong.' })
  t.equal((await send({ password: [fresh], repeated_password: [fresh] })).statusCode, 400)
  t.equal((await send({})).statusCode, 204)
  t.ok(await one.canSignIn(fresh))
})

const unfit = 'A password has 8 to 1024 characters.'
const refused: Record<string, [fields: Record<string, string>, status: number, problem: string]> = {
  'a wrong current password': [{ current_password: 'wrong' }, 403, 'The current password is wrong.'],
  'no current password': [{ current_password: '' }, 400, 'Fill in all fields.'],
  'no new password': [twice(''), 400, 'Fill in all fields.'],
  'two different new passwords': [{ repeated_password: `${fresh}!` }, 400, 'The new passwords are not the same.'],
  'a short password': [twice('seven77'), 400, unfit],
  'a password of 1,025 characters': [twice('x'.repeat(1025)), 400, unfit],
  'a password with a NUL': [twice('eight\0 888'), 400, unfit],
  'a current password of 1,025 characters': [{ current_password: 'x'.repeat(1025) }, 400, 'Fill in all fields.'],
}

function twice(password: string) {
  return { password, repeated_password: password }
}

for (const [what, [fields, status, problem]] of Object.entries(refused)) {
  t.test(`${what} changes nothing and shows the form again`, async t => {
    const one = await someone()
    const cookie = await one.signIn()
    const { statusCode, body, headers } = await one.change(cookie, fields)
    t.equal(statusCode, status)
    t.match(body, `<p class="problem" role="alert">${problem}</p>`)
    t.equal(headers['cache-control'], 'no-store')
    t.notMatch(body, fresh)
    t.equal(await whoIs(cookie), one.email)
    t.ok(await one.canSignIn(testPassword))
  })
}

t.test('a form on another site changes nothing', async t => {
  const one = await someone()
  const cookie = await one.signIn()
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { origin: 'https://elsewhere.test' },
    { origin: 'null' },
  ]) {
    t.equal((await one.change(cookie, {}, headers)).statusCode, 403)
  }
  t.ok(await one.canSignIn(testPassword))
})

t.test('wrong passwords count as attempts to sign in to the account', async t => {
  const one = await someone()
  const cookie = await one.signIn()
  const attempts = await Promise.all(
    Array.from({ length: 41 }, async (_, n) => await one.change(cookie, { password: 'short' }, {}, `203.0.113.${n}`)),
  )
  const refused = attempts.find(({ statusCode }) => statusCode === 429)
  t.ok(Number(refused?.headers['retry-after']) > 0)
  t.match(refused?.body, '<p class="problem" role="alert">Too many attempts. Try again in a minute.</p>')
  t.notOk(await one.canSignIn(testPassword), 'the sign-in form counts with it')
})

t.test('of two changes at once from the same password, one is refused', async t => {
  const one = await someone()
  const cookie = await one.signIn()
  const answers = await Promise.all(
    ['the first password', 'the second password'].map(password => one.change(cookie, twice(password))),
  )
  t.strictSame(answers.map(({ statusCode }) => statusCode).sort(), [200, 403])
})

t.test('a user who is removed meanwhile gets the form, and nothing is changed', async t => {
  const one = await someone()
  const cookie = await one.signIn()
  // Before the notification is heard, the session is still valid.
  const removed = sql`delete from users where email = ${one.email}`.execute(database.db)
  const { statusCode } = await one.change(cookie)
  await removed
  t.match(String(statusCode), /^(?:401|403)$/)
})
