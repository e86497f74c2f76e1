import { once } from 'node:events'
import { connect } from 'node:net'
import { text as readAll } from 'node:stream/consumers'
import { mock } from 'node:test'
import { sql } from 'kysely'
import t from 'tap'
import { addToken, tokenCommand } from '../support/api-token.ts'
import {
  addLicense,
  addUser,
  build,
  hearAll,
  heardOf,
  newAddress,
  openTestDatabase,
  problemOf,
  signIn,
} from '../support/site.ts'
import { breakTable } from '../support/broken-database.ts'
import { stopClock } from '../support/clock.ts'
import { keepLog } from '../support/log.ts'
import { sendBytes } from '../support/send-bytes.ts'
import { hearQueries } from '../support/sent-queries.ts'

const host = 'museum.test'
const admin = 'admin@museum.test'
const member = 'member@museum.test'
const database = await openTestDatabase(t)
const { db } = database
await addLicense(database, { domain: host, museums: ['Louvre'] })
const depot = await addLicense(database, { domain: 'protected.test', protected: true })
await addUser(database, { email: admin, admin: true })
await addUser(database, { email: member, licenses: [depot] })
const app = await build(t, { database })
const token = await addToken(database, admin)

interface Asked {
  method?: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE' | 'OPTIONS'
  url?: string
  headers?: Record<string, string>
  payload?: object
  remoteAddress?: string
}

async function ask(authorization: string, { headers = {}, url = '/api/users', ...asked }: Asked = {}, of = app) {
  return await of.inject({ url, headers: { host, authorization, ...headers }, ...asked })
}

let names = 0

function newType() {
  return { method: 'POST', url: '/api/license-types', payload: { type: `type ${names++}` } } as const
}

t.test('a token stands for its user, without a cookie', async t => {
  const response = await ask(`Bearer ${token}`)
  t.equal(response.statusCode, 200)
  t.match(response.json(), { items: [{ email: admin }, { email: member }] })
  t.notOk(response.headers['set-cookie'])
  t.match(response.headers.vary, /Authorization/)
  t.equal((await ask(`Bearer ${token}`, { method: 'HEAD' })).statusCode, 200)
})

t.test('every answer of a route that accepts tokens varies on them, and no other answer does', async t => {
  const other = await build(t, {
    database,
    async routes(app) {
      app.get('/tokens', { config: { token: 'accepted' } }, async request => request.user)
      app.get('/none', async () => 'open')
    },
  })
  const varyOf = async (of: typeof app, url: string, headers: Record<string, string>) =>
    String((await of.inject({ url, headers: { host, ...headers } })).headers.vary)
  for (const authorization of [undefined, `Bearer ${token}`, 'Basic YTpi', 'Bearer wrong']) {
    const headers = authorization === undefined ? {} : { authorization }
    t.match(await varyOf(other, '/tokens', headers), /Authorization/)
    t.match(await varyOf(app, '/api/museums', headers), /Authorization/)
    t.notMatch(await varyOf(other, '/none', headers), /Authorization/)
    t.notMatch(await varyOf(other, '/version', headers), /Authorization/)
  }
})

t.test('a token changes records, wherever the request comes from', async t => {
  const headers = { origin: 'https://elsewhere.test', 'sec-fetch-site': 'cross-site', cookie: 'locale=en' }
  t.equal((await ask(`Bearer ${token}`, { ...newType(), headers })).statusCode, 201)
})

t.test('a token may do what its user may', async t => {
  const own = await addToken(database, member)
  t.equal((await ask(`Bearer ${own}`)).statusCode, 403)
  t.equal((await ask(`Bearer ${own}`, { url: '/api/museums' })).statusCode, 200)
  const inDepot = { url: '/api/museums', headers: { host: 'protected.test' } }
  t.equal((await ask(`Bearer ${own}`, inDepot)).statusCode, 200)
  await addUser(database, { email: 'stranger@museum.test' })
  t.equal((await ask(`Bearer ${await addToken(database, 'stranger@museum.test')}`, inDepot)).statusCode, 403)
})

t.test('pages ignore tokens, valid or not', async t => {
  for (const authorization of [`Bearer ${token}`, 'Bearer wrong', `Bearer ${token.slice(0, -1)}`]) {
    const page = await ask(authorization, { url: '/', headers: { accept: 'text/html' } })
    t.equal(page.statusCode, 200, authorization)
    t.notMatch(page.body, admin)
    const { statusCode, headers } = await ask(authorization, { url: '/', headers: { host: 'protected.test' } })
    const challenge = 'Cookie realm="protected.test", form-action="/login"'
    t.strictSame([statusCode, headers['www-authenticate']], [401, challenge])
  }
})

/** How a bearer token was refused: the status, the error of the challenge, and the sentence. */
async function refusalOf(...asked: Parameters<typeof ask>) {
  const response = await ask(...asked)
  const [, error] =
    /^Bearer realm="museum\.test", error="(\w+)"$/.exec(String(response.headers['www-authenticate'])) ?? []
  return [error, ...problemOf(response)]
}

const bytes = token.replace('portico_', '')
const malformed: Record<string, string> = {
  'without the prefix': bytes,
  'of 10 kB': `portico_${'A'.repeat(10_000)}`,
  'with a character more': `${token}A`,
  'with a last character that no token has': `${token.slice(0, -1)}B`,
  'outside ASCII': `portico_${'ä'.repeat(43)}`,
  'with another one after a comma': `${token}, Bearer ${token}`,
  'that is SQL': "' or 1 = 1 --",
}

for (const [what, value] of Object.entries(malformed)) {
  t.test(`a token ${what} is answered with 401, on open lists, too`, async t => {
    const sentence = 'This is not an API token. A token is "portico_" and 43 more characters.'
    for (const url of ['/api/users', '/api/museums']) {
      const refusal = await refusalOf(`Bearer ${value}`, { url, remoteAddress: newAddress() })
      t.strictSame(refusal, ['invalid_token', 401, sentence])
    }
  })
}

t.test('the scheme may be written in any case, and with blanks after it', async t => {
  for (const scheme of ['bearer', 'BEARER', 'Bearer  ']) {
    t.equal((await ask(`${scheme} ${token}`)).statusCode, 200, scheme)
  }
})

const basic = 'Basic YWRtaW5AbXVzZXVtLnRlc3Q6c2VjcmV0'

for (const authorization of [basic, `Token ${token}`, token, `Bearer${token}`, '', 'ä']) {
  t.test(`"${authorization.slice(0, 12)}" is not a bearer token, and counts as none`, async t => {
    const { statusCode, headers } = await ask(authorization)
    t.equal(statusCode, 401)
    t.equal(headers['www-authenticate'], `Cookie realm="${host}", form-action="/login", Bearer realm="${host}"`)
    t.equal((await ask(authorization, { url: '/api/museums' })).statusCode, 200)
    const cookie = await signIn(app, { host, email: admin })
    t.equal((await ask(authorization, { headers: { cookie } })).statusCode, 200, 'a cookie still works')
  })
}

t.test('a token in the query is not accepted', async t => {
  for (const name of ['access_token', 'token', 'authorization']) {
    t.not((await app.inject({ url: `/api/users?${name}=${token}`, headers: { host } })).statusCode, 200)
  }
})

t.test('Several Authorization headers', async t => {
  const address = await (await build(t, { database })).listen({ port: 0, host: '127.0.0.1' })
  for (const pair of [
    [`Bearer ${token}`, `Bearer ${token}`],
    [basic, `Bearer ${token}`],
    [`Bearer ${token}`, basic],
  ]) {
    t.test(`are refused: ${pair.map(value => value.slice(0, 6)).join(' and ')}`, async t => {
      const lines = pair.map(value => `authorization: ${value}\r\n`).join('')
      const answer = await sendBytes(address, `GET /api/users HTTP/1.1\r\nHost: ${host}\r\n${lines}`)
      t.match(answer, /^HTTP\/1\.1 400 /)
      t.match(answer.toLowerCase(), `www-authenticate: bearer realm="${host}", error="invalid_request"`)
      const page = await sendBytes(address, `GET / HTTP/1.1\r\nHost: ${host}\r\n${lines}`)
      t.match(page, /^HTTP\/1\.1 200 /, 'pages ignore them')
    })
  }
})

t.test('an unknown token is answered with 401', async t => {
  const sentence = 'This API token does not exist, or it has been revoked.'
  t.strictSame(await refusalOf(`Bearer portico_${'A'.repeat(43)}`), ['invalid_token', 401, sentence])
  const { headers } = await ask(`Bearer portico_${'A'.repeat(43)}`)
  t.match(headers['content-type'], 'application/problem+json')
})

t.test('a token works until it expires, if need be for ever', async t => {
  const expiring = await addToken(database, admin, '--expires-at 2999-01-01T00:00:00Z')
  t.equal((await ask(`Bearer ${expiring}`)).statusCode, 200)
  await heardOf(database, () => sql`update api_tokens set expires_at = 'infinity' where expires_at > now()`.execute(db))
  t.equal((await ask(`Bearer ${expiring}`)).statusCode, 200)
  await heardOf(database, () => sql`update api_tokens set expires_at = now() where expires_at is not null`.execute(db))
  t.strictSame(await refusalOf(`Bearer ${expiring}`), ['invalid_token', 401, 'This API token has expired.'])
})

t.test("a removed user's token is refused, and a changed password leaves tokens alone", async t => {
  const email = 'leaving@museum.test'
  await addUser(database, { email, admin: true })
  const own = await addToken(database, email)
  t.equal((await ask(`Bearer ${own}`)).statusCode, 200)
  for (const [change, status] of [
    [sql`update users set password_hash = 'new' where email = ${email}`, 200],
    [sql`update users set admin = false where email = ${email}`, 403],
    [sql`delete from users where email = ${email}`, 401],
  ] as const) {
    await heardOf(database, () => change.execute(db))
    t.equal((await ask(`Bearer ${own}`)).statusCode, status, change.compile(db).sql)
  }
})

t.test('a token whose removal has not been heard yet is refused if its user is gone', async t => {
  const email = 'gone@museum.test'
  const id = await addUser(database, { email })
  const own = await addToken(database, email)
  const museums = { url: '/api/museums' }
  t.equal((await ask(`Bearer ${own}`, museums)).statusCode, 200)
  await hearAll(database)
  // The first use was kept, which took the token out of the cache.
  t.equal((await ask(`Bearer ${own}`, museums)).statusCode, 200)
  await db.transaction().execute(async transaction => {
    await sql`alter table api_tokens disable trigger user`.execute(transaction)
    await sql`delete from users where id = ${id}`.execute(transaction)
    await sql`alter table api_tokens enable trigger user`.execute(transaction)
  })
  await hearAll(database)
  t.strictSame((await refusalOf(`Bearer ${own}`, museums)).slice(0, 2), ['invalid_token', 401])
})

t.test('Bearer wins over a cookie', async t => {
  const cookie = await signIn(app, { host, email: admin })
  const theirs = await addToken(database, member)
  const response = await ask(`Bearer ${theirs}`, { headers: { cookie } })
  t.equal(response.statusCode, 403)
  t.match(response.json().detail, member)
  t.equal((await ask('Bearer wrong', { headers: { cookie } })).statusCode, 401)
  const forged = await ask(`Bearer ${token}`, { headers: { cookie: 'portico_session=forged' } })
  t.equal(forged.statusCode, 200)
  t.notOk(forged.headers['set-cookie'], 'the cookie is not looked at')
})

t.test('a token that only reads changes nothing', async t => {
  const reading = await addToken(database, admin, '--read-only')
  t.equal((await ask(`Bearer ${reading}`)).statusCode, 200)
  t.equal((await ask(`Bearer ${reading}`, { method: 'HEAD' })).statusCode, 200)
  for (const asked of [
    newType(),
    { method: 'PATCH', url: '/api/license-types/1', payload: {} },
    { method: 'DELETE', url: '/api/license-types/1' },
  ] as const) {
    const refusal = ['insufficient_scope', 403, 'This API token may only read.']
    t.strictSame(await refusalOf(`Bearer ${reading}`, asked), refusal, asked.method)
  }
})

t.test('a path without a route and a host without a license have the same answer whatever the token', async t => {
  for (const authorization of ['Bearer wrong', `Bearer ${token}`]) {
    const pathless = await ask(authorization, { url: '/api/version' })
    t.strictSame(problemOf(pathless), [404, 'No route found for "GET /api/version"'])
    t.equal((await ask(authorization, { method: 'DELETE', url: '/api/users' })).statusCode, 405)
    const unlicensed = await ask(authorization, { headers: { host: 'unknown.test' } })
    t.strictSame(problemOf(unlicensed), [404, 'No license found for "unknown.test".'])
  }
})

async function lastUse(of: string): Promise<Date | null> {
  await ask(`Bearer ${of}`)
  await hearAll(database)
  const { rows } = await sql<{ last_used_at: Date | null }>`
    select last_used_at from api_tokens order by id desc limit 1`.execute(db)
  return rows[0]?.last_used_at ?? null
}

const hour = 60 * 60 * 1000

t.test('the hour of the last use is kept, with at most one write an hour', async t => {
  stopClock(t)
  const used = await addToken(database, admin)
  const writes: string[] = []
  t.teardown(hearQueries(query => query.startsWith('update "api_tokens"') && writes.push(query)))
  while ((await lastUse(used)) === null);
  const first = Number(await lastUse(used))
  t.equal(first % hour, 0)
  for (let n = 0; n < 20; n++) await ask(`Bearer ${used}`)
  t.equal(writes.length, 1)
  await heardOf(database, () => sql`update api_tokens set last_used_at = '2026-01-01'`.execute(db))
  while (Number(await lastUse(used)) < first);
  t.equal(writes.length, 2)
})

t.test("the last use is kept by the database's clock", async t => {
  const used = await addToken(database, admin)
  const began = Date.now()
  mock.timers.enable({ apis: ['Date'], now: began + 365 * 24 * hour })
  while ((await lastUse(used)) === null);
  mock.timers.reset()
  t.ok(Number(await lastUse(used)) <= Date.now())
})

t.test('a use that cannot be kept does not fail the request', async t => {
  const own = await addToken(database, admin)
  t.teardown(await breakTable(database, 'api_tokens'))
  const { logger, records } = keepLog('warn')
  const logged = await build(t, { database, logger })
  t.equal((await ask(`Bearer ${own}`, {}, logged)).statusCode, 200)
  while (records().length === 0) await new Promise(resolve => setImmediate(resolve))
  t.match(records(), [{ msg: 'The use of an API token could not be kept.', err: { message: 'it failed' } }])
})

t.test('a fault of the database is not mistaken for an invalid token', async t => {
  const email = 'unlucky@museum.test'
  await addUser(database, { email, admin: true })
  const own = await addToken(database, email)
  await sql`alter table api_tokens rename to lost`.execute(db)
  t.equal((await ask(`Bearer ${own}`)).statusCode, 500)
  await sql`alter table lost rename to api_tokens`.execute(db)
  t.equal((await ask(`Bearer ${own}`)).statusCode, 200)
  await heardOf(database, () => sql`update users set admin = true where email = ${email}`.execute(db))
  await sql`alter table users rename to lost`.execute(db)
  t.equal((await ask(`Bearer ${own}`, { url: '/api/museums' })).statusCode, 500)
  await sql`alter table lost rename to users`.execute(db)
  t.equal((await ask(`Bearer ${own}`)).statusCode, 200)
})

t.test('A flood of invalid tokens', async t => {
  const app = await build(t, { database })
  const from = { remoteAddress: '203.0.113.1' }
  const madeUp = (n: number) => `Bearer portico_${String(n).padStart(42, '0')}A`
  const queries: string[] = []
  const stop = hearQueries(query => query.includes('api_tokens') && queries.push(query))
  const answers = await Promise.all(Array.from({ length: 500 }, (_, n) => ask(madeUp(n), from, app)))
  stop()

  t.test('shares its queries', async t => {
    t.ok(queries.length < 20, `${queries.length} queries`)
  })

  t.test('is answered with 429 after 60 of a network in a minute', async t => {
    t.equal(answers.filter(({ statusCode }) => statusCode === 401).length, 60)
    const refused = answers.filter(({ statusCode }) => statusCode === 429)
    t.equal(refused.length, 440)
    const seconds = Number(refused[0]?.headers['retry-after'])
    t.ok(seconds > 0 && seconds <= 60)
    const sentence = `Too many requests with an invalid API token. Try again in ${seconds} seconds.`
    t.equal(refused[0]?.json().detail, sentence)
    t.equal((await ask('Bearer malformed', from, app)).statusCode, 429)
    t.equal((await ask('Bearer malformed', { remoteAddress: '203.0.113.2' }, app)).statusCode, 401)
  })

  t.test('keeps no valid token out, not even one that was never used', async t => {
    t.equal((await ask(`Bearer ${token}`, from, app)).statusCode, 200)
    t.equal((await ask(`Bearer ${await addToken(database, admin)}`, from, app)).statusCode, 200)
  })

  t.test('does not count as attempts to sign in', async t => {
    t.match(await signIn(app, { host, email: admin, ...from }), 'portico_session=')
  })
})

t.test('a request that has begun when its token is revoked is answered, and the next one is not', async t => {
  const app = await build(t, { database })
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const own = await addToken(database, admin)
  const id = String((await db.selectFrom('api_tokens').select('id').orderBy('id', 'desc').limit(1).execute())[0]?.id)
  const body = JSON.stringify({ type: `type ${names++}` })
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(
    `POST /api/license-types HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${own}\r\nConnection: close\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
  )
  await once(socket, 'data')
  while ((await lastUse(own)) === null);
  await tokenCommand(database, `revoke ${id}`)
  socket.write(body)
  t.match(await readAll(socket), /HTTP\/1\.1 201 /)
  t.equal((await ask(`Bearer ${own}`, {}, app)).statusCode, 401)
})
