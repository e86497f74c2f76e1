import { sql } from 'kysely'
import t from 'tap'
import {
  addLicense,
  addUser,
  build,
  canSignIn,
  openTestDatabase,
  postForm,
  signIn,
  testPassword,
} from '../support/site.ts'
import { keepLog } from '../support/log.ts'
import { commandsOn } from '../support/run-command.ts'

const host = 'museum.test'
const database = await openTestDatabase(t)
const license = await addLicense(database, { domain: host, languages: ['en', 'de', 'fr'], protected: true })
const log = keepLog('trace')
const app = await build(t, { database, logger: log.logger })

const fresh = 'a fresh password'
let users = 0

async function someone(): Promise<string> {
  const email = `user-${users++}@museum.test`
  await addUser(database, { email, licenses: [license] })
  return email
}

/** Runs the command. @returns the path and the query of the link */
async function linkFor(email: string): Promise<string> {
  const { code, output, errors } = await commandsOn(database).type(`user password ${email} --link`)
  t.equal(code, 0)
  t.equal(errors, `A link for ${email} that works once, for 60 minutes:\n`)
  t.match(output, /^https:\/\/museum\.test\/password\/reset\?token=[\w-]{43}\n$/)
  return output.trim().replace(`https://${host}`, '')
}

function tokenOf(link: string): string {
  return link.replace(/.*=/, '')
}

async function open(url: string, headers: Record<string, string> = { accept: 'text/html' }) {
  return await app.inject({ url, headers: { host, ...headers } })
}

function twice(password: string) {
  return { password, repeated_password: password }
}

async function choose(fields: Record<string, string>, headers: Record<string, string> = {}, remoteAddress?: string) {
  const from = { headers: { host, ...headers }, ...(remoteAddress !== undefined && { remoteAddress }) }
  return await postForm(app, '/password/reset', { ...twice(fresh), ...fields }, from)
}

const canEnter = async (email: string, password: string) => await canSignIn(app, { host, email, password })

t.test('opening a link uses it up never, choosing a password once', async t => {
  const email = await someone()
  const link = await linkFor(email)
  for (let n = 0; n < 3; n++) {
    const page = await open(link)
    const headers = { 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' }
    t.match(page, { statusCode: 200, headers })
    t.match(page.body, `<input type="hidden" name="token" value="${tokenOf(link)}">`)
    t.equal((await app.inject({ method: 'HEAD', url: link, headers: { host } })).statusCode, 200)
  }
  t.ok(await canEnter(email, testPassword), 'the old password still works')
  const chosen = await choose({ token: tokenOf(link) })
  t.equal(chosen.statusCode, 200)
  t.match(chosen.body, '<a href="/login">Sign in</a>')
  t.equal(chosen.headers['referrer-policy'], 'no-referrer')
  t.notOk(chosen.headers['set-cookie'])
  t.ok(await canEnter(email, fresh))
  t.notOk(await canEnter(email, testPassword))
  t.equal((await open(link)).statusCode, 404)
  t.equal((await choose({ token: tokenOf(link), ...twice('another one') })).statusCode, 404)
  t.ok(await canEnter(email, fresh))
})

t.test('a password that is chosen leaves two lines in the audit: of the user, and of the used link', async t => {
  const email = await someone()
  const token = tokenOf(await linkFor(email))
  await choose({ token, ...twice('short') })
  await choose({ token })
  await choose({ token })
  const written = await database.db
    .selectFrom('audit')
    .select(['via', 'user_id', 'token_id', 'table', 'record_id', 'action', 'before', 'after'])
    .where('actor', '=', email)
    .orderBy('id')
    .execute()
  const user = { id: written[0]?.user_id, email }
  const author = { via: 'api', user_id: user.id, token_id: null, record_id: user.id }
  t.match(written, [
    { ...author, table: 'password_resets', action: 'remove', before: { user: email, user_id: user.id }, after: null },
    { ...author, table: 'users', action: 'change', before: user, after: { ...user, password: '(new)' } },
  ])
  t.equal(written.length, 2)
  t.notMatch(JSON.stringify(written), fresh)
})

t.test('a password that is refused leaves the link to be used', async t => {
  const email = await someone()
  const token = tokenOf(await linkFor(email))
  for (const [fields, problem] of [
    [{ repeated_password: 'something else' }, 'The new passwords are not the same.'],
    [twice('short'), 'A password has 8 to 1024 characters.'],
    [{ password: '' }, 'Fill in all fields.'],
  ] as const) {
    const { statusCode, body } = await choose({ token, ...fields })
    t.equal(statusCode, 400)
    t.match(body, `<p class="problem" role="alert">${problem}</p>`)
    t.match(body, `value="${token}"`)
  }
  t.equal((await choose({ token })).statusCode, 200)
})

t.test('a new link ends the one before', async t => {
  const email = await someone()
  const [older, newer] = [await linkFor(email), await linkFor(email)]
  t.equal((await open(older)).statusCode, 404)
  t.equal((await open(newer)).statusCode, 200)
})

t.test('a link ends after an hour', async t => {
  const link = await linkFor(await someone())
  await sql`update password_resets set expires_at = expires_at - interval '59 minutes'`.execute(database.db)
  t.equal((await open(link)).statusCode, 200)
  await sql`update password_resets set expires_at = expires_at - interval '1 minute'`.execute(database.db)
  t.equal((await open(link)).statusCode, 404)
  t.equal((await choose({ token: tokenOf(link) })).statusCode, 404)
})

t.test('a link ends with any other change of the password, and with the user', async t => {
  const email = await someone()
  const link = await linkFor(email)
  await sql`update users set password_hash = 'another' where email = ${email}`.execute(database.db)
  t.equal((await open(link)).statusCode, 404)
  const gone = await someone()
  const theirs = await linkFor(gone)
  await sql`delete from users where email = ${gone}`.execute(database.db)
  t.equal((await open(theirs)).statusCode, 404)
})

t.test('of several uses at once, one counts', async t => {
  const token = tokenOf(await linkFor(await someone()))
  const passwords = ['the first one', 'the second one', 'the third one']
  const answers = await Promise.all(passwords.map(password => choose({ token, ...twice(password) })))
  t.strictSame(answers.map(({ statusCode }) => statusCode).sort(), [200, 404, 404])
})

for (const token of [
  ...['', 'A', 'A'.repeat(43), 'A'.repeat(10_000), 'B'.repeat(43), `portico_${'A'.repeat(43)}`],
  ...['ä', '\0', '"><script>', "' or 1 = 1 --"],
]) {
  t.test(`a link with the token "${token.slice(0, 60)}" leads to a page that says what to do`, async t => {
    for (const [locale, title] of [
      ['en', 'This link does not work any more'],
      ['de', 'Dieser Link gilt nicht mehr'],
      ['fr', 'Ce lien ne fonctionne plus'],
    ]) {
      t.match(await open(`/password/reset?_locale=${locale}&token=${encodeURIComponent(token)}`), {
        statusCode: 404,
        headers: { 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' },
        body: `<h1>${title}</h1>`,
      })
    }
    t.match(String((await choose({ token })).statusCode), /^40[04]$/)
  })
}

t.test('a link without a token, or with two, does not work', async t => {
  const link = await linkFor(await someone())
  t.equal((await open('/password/reset')).statusCode, 404)
  t.equal((await open(`${link}&token=${tokenOf(link)}`)).statusCode, 404)
  t.match(await open('/password/reset', { accept: 'application/json' }), {
    statusCode: 404,
    headers: { 'content-type': 'application/problem+json', 'referrer-policy': 'no-referrer' },
  })
})

t.test('the form works in browsers that send "Origin: null" and a cookie', async t => {
  const token = tokenOf(await linkFor(await someone()))
  t.equal((await choose({ token }, { origin: 'null', cookie: 'locale=en' })).statusCode, 200)
})

t.test('programs may send JSON', async t => {
  const email = await someone()
  const token = tokenOf(await linkFor(email))
  const send = async (fields: object) => {
    const payload = { token, ...twice(fresh), ...fields }
    return await app.inject({ method: 'POST', url: '/password/reset', headers: { host }, payload })
  }
  t.match((await send({ repeated_password: 'x' })).json(), { detail: 'The new passwords are not the same.' })
  t.equal((await send({ token: [token] })).statusCode, 400)
  t.equal((await send({})).statusCode, 204)
  t.ok(await canEnter(email, fresh))
})

t.test('an address has 20 attempts a minute, counted with those to sign in', async t => {
  const attempt = async () => await choose({ token: 'A'.repeat(43) }, {}, '203.0.113.9')
  for (let n = 0; n < 20; n++) t.equal((await attempt()).statusCode, 404)
  const { statusCode, body } = await attempt()
  t.equal(statusCode, 429)
  t.match(body, 'Too many attempts. Try again in a minute.')
  const signingIn = { host, email: 'user-0@museum.test', password: fresh, remoteAddress: '203.0.113.9' }
  await t.rejects(signIn(app, signingIn), { message: /429/ })
})

t.test('no log line has a token', async t => {
  const link = await linkFor(await someone())
  await open(link)
  await choose({ token: tokenOf(link) })
  t.ok(log.records().length > 10)
  t.notMatch(log.text(), tokenOf(link))
  t.notMatch(log.text(), 'token=')
})
