import { sql } from 'kysely'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { addLicense, addUser, build, openTestDatabase, testPassword } from '../support/site.ts'
import { stopClock } from '../support/clock.ts'
import { createDatabase, serverUrl } from '../support/test-database.ts'
import { serveWire } from '../support/wire-server.ts'
import { hearQueries } from '../support/sent-queries.ts'

const host = 'museum.test'
const victim = 'victim@museum.test'
/** How many networks or accounts an attacker uses. The counters themselves are tested with 100,000 keys. */
const flood = 300

const database = await openTestDatabase(t)
await prepare(database)

async function prepare(database: Database): Promise<void> {
  await addLicense(database, { domain: host })
  await addUser(database, { email: victim })
}

/** Starts a server behind a proxy, with all counters cleared. */
async function start(t: Test, of = database): Promise<FastifyInstance> {
  await of.db.deleteFrom('sign_in_attempts').execute()
  return await build(t, { database: of, environment: { TRUST_PROXY: 'loopback' } })
}

interface Attempt {
  email?: unknown
  password?: string
}

/** @param from the client's address according to the proxy */
async function attempt(app: FastifyInstance, from: string, { email = victim, password = 'wrong' }: Attempt = {}) {
  const headers = { host, 'x-forwarded-for': from }
  const answer = await app.inject({ method: 'POST', url: '/login', headers, payload: { email, password } })
  const { statusCode } = answer
  const detail = statusCode === 204 ? '' : String(answer.json().detail)
  return { statusCode, retryAfter: Number(answer.headers['retry-after']), detail }
}

const malformed = { email: 'none' }

/** An address in the nth of many IPv6 networks. */
function networkNumber(n: number): string {
  return `2001:db8:${(n >> 16).toString(16)}:${(n & 65535).toString(16)}::1`
}

let clients = 0

function newAddress(): string {
  return networkNumber(1_000_000 + clients++)
}

/** Makes all attempts at once. Those that find the server busy are refused, but still counted. */
async function attemptAll<Answer>(attempts: number, make: (n: number) => Promise<Answer>): Promise<Answer[]> {
  return await Promise.all(Array.from({ length: attempts }, (_, n) => make(n)))
}

// These servers count for themselves, by a clock that stands still: a table is written to for each attempt, and a slow
// machine could take longer than a minute.
const alone = { ...database, isShared: false }

t.test('attempts from hundreds of networks on hundreds of accounts do not reset the limit of an account', async t => {
  const letPass = stopClock(t)
  const app = await start(t, alone)
  await attemptAll(40, n => attempt(app, networkNumber(n)))
  letPass(59_000)
  await attemptAll(flood, n => attempt(app, networkNumber(n), { email: `nobody-${n}@museum.test` }))
  const signInNow = () => attempt(app, newAddress(), { password: testPassword })
  t.match(await signInNow(), { statusCode: 429, retryAfter: 1, detail: 'Too many attempts to sign in.' })
  letPass(1000)
  t.match(await signInNow(), { statusCode: 204 })
})

t.test('the addresses of an IPv6 network together get 20 attempts a minute', async t => {
  const app = await start(t)
  const attemptFrom = async (n: number) => (await attempt(app, `2001:db8:f::${n.toString(16)}`, malformed)).statusCode
  for (let n = 0; n < 20; n++) t.equal(await attemptFrom(n), 400)
  t.equal(await attemptFrom(20), 429)
  t.equal((await attempt(app, newAddress(), malformed)).statusCode, 400, 'others may continue')
})

t.test('any value sent as an e-mail address is counted and refused', async t => {
  const app = await start(t)
  const from = newAddress()
  const values = [
    ...['a'.repeat(15_000), '\0', '\ud800', '\u202e', '__proto__', '\ufdfa'.repeat(200), ''],
    ...[null, 1e308, [], {}, true, [victim], { $gt: '' }],
    ...['\ufdfa@b', '\ud800@b', "'--@b", '__proto__@b', 'constructor@b', '\u{1f5ff}@b'],
  ]
  for (const email of values) {
    t.match(String((await attempt(app, from, { email })).statusCode), /^40[01]$/, JSON.stringify(email).slice(0, 20))
  }
  t.equal((await attempt(app, from, malformed)).statusCode, 429)
})

t.test('Servers on one PostgreSQL', async t => {
  const url = serverUrl === undefined ? (await serveWire(t)).url : await createDatabase(t, serverUrl)
  const databases = [await open(t, url), await open(t, url)] as const
  const [{ db }] = databases
  await prepare(databases[0])

  t.test('count the attempts of an address together', async t => {
    const [first, second] = [await start(t, databases[0]), await start(t, databases[1])]
    for (let n = 0; n < 20; n++) {
      t.equal((await attempt(n % 2 === 0 ? first : second, '198.51.100.1', malformed)).statusCode, 400)
    }
    for (const app of [first, second]) {
      const { statusCode, retryAfter } = await attempt(app, '198.51.100.1', malformed)
      t.equal(statusCode, 429)
      t.ok(retryAfter > 0 && retryAfter <= 60)
      t.equal((await attempt(app, '198.51.100.2', malformed)).statusCode, 400)
    }
  })

  t.test('count the attempts of an account together', async t => {
    const [first, second] = [await start(t, databases[0]), await start(t, databases[1])]
    const written = [victim, victim.toUpperCase(), ` ${victim} `]
    await attemptAll(40, n => attempt(n % 2 === 0 ? first : second, newAddress(), { email: written[n % 3] }))
    t.equal((await attempt(first, newAddress(), { password: testPassword })).statusCode, 429)
    t.equal((await attempt(second, newAddress(), { password: testPassword })).statusCode, 429)
    t.equal((await attempt(first, newAddress(), { email: 'other@museum.test' })).statusCode, 401, 'others may continue')
  })

  t.test('remember a refusal without asking the database again', async t => {
    const app = await start(t, databases[0])
    const queries: string[] = []
    for (let n = 0; n < 21; n++) await attempt(app, '198.51.100.3', malformed)
    t.teardown(hearQueries(sql => queries.push(sql)))
    await attemptAll(100, () => attempt(app, '198.51.100.3', malformed))
    t.strictSame(
      queries.filter(text => text.includes('sign_in_attempts')),
      [],
    )
  })

  t.test('reuse an expired counter', async t => {
    const [first, second] = [await start(t, databases[0]), await start(t, databases[1])]
    for (let n = 0; n < 21; n++) await attempt(first, '198.51.100.4', malformed)
    const { rows: before } =
      await sql`update sign_in_attempts set expires_at = now() - interval '1 second' returning counter`.execute(db)
    t.equal((await attempt(second, '198.51.100.4', malformed)).statusCode, 400)
    t.strictSame(
      await db.selectFrom('sign_in_attempts').select('attempts').where('expires_at', '>', new Date()).execute(),
      [{ attempts: 1 }],
    )
    t.equal((await db.selectFrom('sign_in_attempts').selectAll().execute()).length, before.length)
  })

  t.test('refuse nobody for more than a minute, whatever the clock of the database does', async t => {
    const [first, second] = [await start(t, databases[0]), await start(t, databases[1])]
    for (let n = 0; n < 21; n++) await attempt(first, '198.51.100.5', malformed)
    await sql`update sign_in_attempts set expires_at = now() + interval '1 year'`.execute(db)
    const { statusCode, retryAfter } = await attempt(second, '198.51.100.5', malformed)
    t.equal(statusCode, 429)
    t.ok(retryAfter <= 60)
  })

  t.test('store neither addresses nor e-mail addresses', async t => {
    await attempt(await start(t, databases[0]), '198.51.100.6')
    const rows = await db.selectFrom('sign_in_attempts').selectAll().execute()
    t.notMatch(JSON.stringify(rows), /198|victim/)
  })

  t.test('count on their own while the database is read-only, and still sign in', async t => {
    const app = await start(t, databases[0])
    await sql`set default_transaction_read_only = on`.execute(db)
    t.teardown(() => sql`set default_transaction_read_only = off`.execute(db))
    t.equal((await attempt(app, newAddress(), { password: testPassword })).statusCode, 204)
    for (let n = 0; n < 20; n++) t.equal((await attempt(app, '198.51.100.10', malformed)).statusCode, 400)
    t.equal((await attempt(app, '198.51.100.10', malformed)).statusCode, 429)
  })

  t.test('let nobody sign in if a fault keeps the attempt from being counted', async t => {
    const app = await start(t, databases[0])
    await sql`alter table sign_in_attempts rename to lost`.execute(db)
    t.equal((await attempt(app, newAddress(), { password: testPassword })).statusCode, 500)
  })
})

async function open(t: Test, databaseUrl: string): Promise<Database> {
  const database = await openDatabase({ databaseUrl, dataDir: 'unused' })
  t.teardown(() => database.close())
  return database
}
