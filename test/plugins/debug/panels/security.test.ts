import { sql } from 'kysely'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import type { SecurityData } from '../../../../plugins/debug/panels/security.ts'
import { addToken } from '../../../support/api-token.ts'
import {
  addLicense,
  addUser,
  cookieOf,
  heardOf,
  openTestDatabase,
  signIn,
  testPassword,
} from '../../../support/site.ts'
import { signSession } from '../../../support/session.ts'
import { buildDebugged, leaveDuringRead, panelOf, readPanel, readPanels } from './panels.ts'

const database = await openTestDatabase(t)
await addLicense(database, { domain: 'museum.test', name: 'Louvre', languages: ['en', 'de', 'fr'] })
const depot = await addLicense(database, { domain: 'protected.test', name: 'Depot', protected: true })
await addUser(database, { email: 'member@museum.test', licenses: [depot] })
await addUser(database, { email: 'stranger@museum.test' })
await addUser(database, { email: 'admin@museum.test', admin: true })

async function routes(app: FastifyInstance) {
  app.get('/', async () => 'inside')
  app.post('/', async () => 'posted')
}

const secret = 'a secret of more than thirty-two characters'
const app = await buildDebugged(t, { database, routes, environment: { COOKIE_SECRET: secret } })

interface Asked {
  method?: 'GET' | 'POST'
  url?: string
  headers?: Record<string, string>
}

async function checksOf({ method = 'GET', url = '/', headers = {} }: Asked, of = app): Promise<Record<string, string>> {
  const response = await of.inject({ method, url, headers: { host: 'museum.test', ...headers } })
  const { checks } = await panelOf<SecurityData>(of, response, 'security')
  return Object.fromEntries(checks.map(({ check, verdict, reason }) => [check, `${verdict}: ${reason}`]))
}

t.test('a request that passes has the reason for each check, in order', async t => {
  const checks = await checksOf({})
  t.strictSame(Object.keys(checks), ['Host', 'Firewall', 'Locale', 'Validity', 'Access', 'Request checker'])
  t.strictSame(checks, {
    Host: 'passed: "museum.test" is a valid host.',
    Firewall: 'passed: The request has no session cookie.',
    Validity: 'passed: The license is valid now.',
    Locale: "passed: en, the license's default: the request asks for none of its languages.",
    Access: 'passed: "Louvre" is open to everybody.',
    'Request checker': 'passed: GET is a safe method.',
  })
})

const unknown = { host: 'unknown.test' }
const locked = { host: 'protected.test' }

/** What the panel says of some checks of a request. */
const judged: Record<string, [asked: Asked, checks: Record<string, string>]> = {
  'an invalid host': [
    { headers: { host: '<script>' } },
    { Host: 'refused: Invalid Host "<script>".', Firewall: 'not reached: The request was interrupted earlier.' },
  ],
  'a locale from the query': [
    { url: '/?_locale=de', headers: { cookie: 'locale=fr' } },
    { Locale: 'passed: de, from _locale "de" in the query.' },
  ],
  'a host without a license': [
    { headers: unknown },
    { Validity: 'passed: "unknown.test" has no license.', Access: 'refused: No license found for "unknown.test".' },
  ],
  'a visitor who has to sign in': [
    { headers: locked },
    {
      Access: 'refused: Sign in to enter this site.',
      'Request checker': 'not reached: The request was interrupted earlier.',
    },
  ],
  'a POST from this site': [
    { method: 'POST', headers: { cookie: 'a=b', 'sec-fetch-site': 'same-origin' } },
    { 'Request checker': 'passed: Sec-Fetch-Site is "same-origin": the request comes from this site.' },
  ],
  'a POST from another site': [
    { method: 'POST', headers: { cookie: 'a=b', origin: 'http://other.test' } },
    { 'Request checker': 'refused: This request came from another site.' },
  ],
  'a URL that cannot be decoded': [{ url: '/%zz' }, { Host: 'not reached: No check ran.' }],
}

for (const [what, [asked, checks]] of Object.entries(judged)) {
  t.test(`the panel says how ${what} was judged`, async t => {
    t.match(await checksOf(asked), checks)
  })
}

const users: [email: string, user: object, checks: Record<string, string>][] = [
  [
    'member@museum.test',
    { admin: false, groups: [`Staff of license ${depot}`] },
    {
      Firewall: 'passed: The session cookie belongs to member@museum.test.',
      Access: 'passed: The user belongs to "Staff", a group of the license.',
    },
  ],
  [
    'stranger@museum.test',
    { admin: false, groups: [] },
    {
      Access: 'refused: You are signed in as stranger@museum.test, but you may not enter this site.',
      'Request checker': 'not reached: The request was interrupted earlier.',
    },
  ],
  ['admin@museum.test', { admin: true, groups: [] }, { Access: 'passed: Admins may enter every site.' }],
]

for (const [email, user, checks] of users) {
  t.test(`the panel shows who ${email} is, how that is known, and the verdict of each check`, async t => {
    const cookie = await signIn(app, { host: 'protected.test', email })
    const response = await app.inject({ url: '/', headers: { host: 'protected.test', cookie } })
    const data = await panelOf<SecurityData>(app, response, 'security')
    t.match(data, {
      user: { email, ...user },
      firewall: {
        kind: 'browser session',
        expires: /^\d{4}-\d\d-\d\dT/,
        answer: /^The response leaves it unchanged: /,
      },
    })
    t.match(await checksOf({ headers: { host: 'protected.test', cookie } }), checks)
    t.notMatch(JSON.stringify(data), cookie.replace('portico_session=', '').slice(0, 60))
  })
}

/** The panel's account of a session cookie. */
async function firewallOf(cookie: string, url = '/', host = 'protected.test') {
  const response = await app.inject({ url, headers: { host, cookie } })
  const { firewall, checks } = await panelOf<SecurityData>(app, response, 'security')
  return { ...firewall, finding: checks.find(({ check }) => check === 'Firewall')?.reason }
}

const signed = (parts: { expires?: number; remembered?: boolean } = {}) =>
  signSession(database, 'member@museum.test', { secrets: [secret], domain: 'protected.test', ...parts })

t.test('an invalid cookie is shown with the reason and as cleared', async t => {
  await addUser(database, { email: 'changed@museum.test' })
  await addUser(database, { email: 'deleted@museum.test' })
  const changed = await signIn(app, { ...locked, email: 'changed@museum.test' })
  const deleted = await signIn(app, { ...locked, email: 'deleted@museum.test' })
  const over = await signIn(app, { ...locked, email: 'member@museum.test' })
  const expired = await signed({ expires: 0 })
  await heardOf(database, async () => {
    await app.inject({ method: 'POST', url: '/logout', headers: { ...locked, cookie: over } })
    await sql`update users set password_hash = 'changed' where email = 'changed@museum.test'`.execute(database.db)
    await sql`delete from users where email = 'deleted@museum.test'`.execute(database.db)
  })
  for (const [cookie, finding, more] of [
    [over, 'The user signed out of this session.', {}],
    [changed, 'The password has changed since the session cookie was set.', {}],
    [deleted, 'The user of the session cookie no longer exists.', {}],
    [expired, 'The session cookie has expired.', { expires: '1970-01-01T00:00:00.000Z' }],
    ['portico_session=forged', 'The session cookie was not signed by this server for this site.', { kind: null }],
  ] as const) {
    t.match(await firewallOf(cookie), { finding, answer: 'The response clears it.', ...more })
  }
})

t.test('a renewed cookie is shown as renewed, and one that was not read as left alone', async t => {
  t.match(await firewallOf(await signed({ remembered: true })), {
    finding: 'The session cookie belongs to member@museum.test.',
    kind: 'remember me',
    answer: 'The response sets a new one.',
  })
  const answer = 'The response leaves it unchanged.'
  const unchecked = 'The path has no route, so the session cookie was not checked.'
  t.match(await firewallOf(await signed(), '/nowhere'), { finding: unchecked, kind: null, answer })
  t.match(await firewallOf('locale=en'), { finding: 'The request has no session cookie.', answer })
})

t.test('a sign-in shows that the cookie was set and why the request was trusted', async t => {
  const payload = { email: 'member@museum.test', password: testPassword }
  const response = await app.inject({ method: 'POST', url: '/login', headers: locked, payload })
  t.match(await panelOf(app, response, 'security'), {
    user: null,
    firewall: { answer: 'The response sets a new one.' },
    checks: { 5: { reason: 'The request has neither Sec-Fetch-Site nor Origin, so no browser sent it.' } },
  })
  t.notMatch(await readPanel(app, response, 'security', 'text/html'), cookieOf(response).slice(20))
})

t.test("a request has the client's address and the proxy that stated it", async t => {
  const behind = await buildDebugged(t, { database, routes, environment: { TRUST_PROXY: 'loopback' } })
  const headers = { host: 'museum.test', forwarded: 'for=203.0.113.7' }
  const response = await behind.inject({ url: '/', headers })
  t.match(await panelOf(behind, response, 'security'), { user: null, ip: '203.0.113.7', by: '127.0.0.1' })
  const contradicted = { ...headers, 'x-forwarded-for': '203.0.113.8' }
  t.match(await checksOf({ headers: contradicted }, behind), {
    'Forwarded headers': 'refused: The "Forwarded" and "x-forwarded-for" headers disagree.',
  })
  const stranger = await behind.inject({ url: '/', headers, remoteAddress: '203.0.113.9' })
  t.match(await panelOf(behind, stranger, 'security'), {
    checks: [{ reason: 'The Forwarded header is ignored, since its sender is not trusted.' }],
  })
})

t.test('a client that leaves during a check leaves it unfinished', async t => {
  await heardOf(database, () => addLicense(database, { domain: 'left.test' }))
  const { id = '' } = (await app.entities.licenses.read('left.test')) ?? {}
  app.entities.languages.forget(id)
  const response = await leaveDuringRead(app, database, 'left.test', 'license_languages')
  t.match(await panelOf(app, response, 'security'), {
    checks: [{}, {}, { check: 'Locale', verdict: 'unfinished' }],
  })
})

const failures = [
  { check: 'Firewall', table: 'user_groups', host: 'protected.test' },
  { check: 'Locale', table: 'license_languages', host: 'museum.test' },
]

for (const { check, table, host } of failures) {
  t.test(`a query that fails of ${table} is why the ${check.toLowerCase()} check refuses the request`, async t => {
    const cookie = await signed()
    await app.inject({ url: '/', headers: { host } })
    app.entities.languages.forget(null)
    app.entities.memberships.forget(null)
    await sql`alter table ${sql.table(table)} rename to elsewhere`.execute(database.db)
    const response = await app.inject({ url: '/', headers: { host, cookie } })
    await sql`alter table elsewhere rename to ${sql.table(table)}`.execute(database.db)
    t.equal(response.statusCode, 500)
    const { checks } = await panelOf<SecurityData>(app, response, 'security')
    t.match(
      checks.find(judgement => judgement.check === check),
      { verdict: 'refused', reason: /elsewhere|does not exist/ },
    )
  })
}

t.test('the panel shows by which API token a user is known, and never the token', async t => {
  const token = await addToken(database, 'admin@museum.test')
  const headers = { host: 'museum.test', authorization: `Bearer ${token}` }
  const api = await buildDebugged(t, { database })
  const response = await api.inject({ url: `/api/users?email=${token}@museum.test`, headers })
  t.equal(response.statusCode, 200)
  const data = await panelOf<SecurityData>(api, response, 'security')
  t.match(data.user, { email: 'admin@museum.test', tokenName: /^token / })
  const name = String(data.user?.tokenName)
  t.match(
    data.checks.filter(({ check }) => check !== 'Locale'),
    [
      { check: 'Host' },
      { check: 'API token', verdict: 'passed', reason: `The API token "${name}" is valid.` },
      { check: 'Firewall', verdict: 'passed', reason: 'The API token belongs to admin@museum.test.' },
      { check: 'Validity' },
      { check: 'Access' },
      { check: 'Request checker' },
    ],
  )
  const shown = await readPanels(api, response)
  t.match(shown, `| API token | \`${name}\` |`)
  t.match(shown, `<dt>API token</dt><dd><code>${name}</code>`)
  t.notMatch(shown, token.slice(0, 30))
})

t.test('an API token that is refused is shown as refused, and another scheme as no token', async t => {
  const api = await buildDebugged(t, { database })
  const checksWith = async (authorization: string) =>
    await checksOf({ url: '/api/museums', headers: { authorization } }, api)
  t.match(await checksWith('Bearer portico_wrong'), {
    'API token': 'refused: This is not an API token. A token is "portico_" and 43 more characters.',
    Firewall: 'not reached: The request was interrupted earlier.',
  })
  t.match(await checksWith('Basic YTpi'), {
    'API token': 'passed: The Authorization header has no bearer token.',
    Firewall: 'passed: The request has no session cookie.',
  })
})
