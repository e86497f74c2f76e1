import { sql } from 'kysely'
import pg from 'pg'
import t from 'tap'
import { openDatabase as open } from '../../src/database/database.ts'
import { contentOf, fillDatabase } from '../support/backup-records.ts'
import { commandsOn } from '../support/run-command.ts'
import { openTestDatabase } from '../support/site.ts'
import { createDatabase, serverUrl } from '../support/test-database.ts'
import { serveWire } from '../support/wire-server.ts'

const database = await openTestDatabase(t)
await fillDatabase(database)
const { type, json, refusal } = commandsOn(database)
// Its URL has a password.
const { url } = await serveWire(t)

/** Runs statements on the target. */
async function onTarget(statement: string): Promise<unknown[]> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query(statement)
  await client.end()
  return rows
}

/** What an export of the target has. */
async function contentOfTarget(databaseUrl = url): Promise<string[]> {
  const target = await open({ databaseUrl, dataDir: 'unused', patient: true })
  const content = await contentOf(target)
  await target.close()
  return content
}

// The tests share the target and run in order.

t.test("a database with another application's tables is refused, and gets no others", async t => {
  await onTarget('create table other (id int)')
  t.equal(
    await refusal(`copy --to ${url}`),
    'The database of --to cannot be used: it has the tables of another application.',
  )
  t.match(await onTarget(`select relname from pg_class where relname in ('other', 'licenses')`), [{ relname: 'other' }])
  await onTarget('drop table other')
})

t.test('a record that cannot be copied leaves the target without records', async t => {
  const long = { email: 'long@museum.test', password_hash: 'x'.repeat(1024 * 1024) }
  await database.db.insertInto('users').values(long).execute()
  const reason = await refusal(`copy --to ${url}`)
  t.equal(reason, 'Nothing was copied. A record of users has more than 1,048,576 bytes.')
  await database.db.deleteFrom('users').where('email', '=', 'long@museum.test').execute()
  t.match(await onTarget('select count(*)::int from licenses'), [{ count: 0 }])
})

t.test('an empty database gets the tables and all records, and a terminal shows the progress', async t => {
  const { code, output, errors } = await type(`copy --to ${url}`, { terminals: ['errors'] })
  t.equal(code, 0)
  t.match(output, /^Copied 17 records(?: in \d+\.\d s)?\.\n$/)
  t.match(errors, /█+░* +\d+ % {2}\d+ records, [\d,]+ a second/)
  t.notMatch(output + errors, 'hunter2')
  t.strictSame(await contentOfTarget(), await contentOf(database))
})

t.test('a database with records is refused, and nothing changes', async t => {
  await onTarget(`update licenses set name = 'Theirs'`)
  const before = await contentOfTarget()
  const reason = await refusal(`copy --to ${url}`)
  t.match(reason, /^Nothing was copied\. The database is not empty: it has [^\n]+users[^\n]+\.$/)
  t.strictSame(await contentOfTarget(), before)
})

t.test('--json prints the outcome as JSON', async t => {
  const tables = Object.keys(JSON.parse(String((await contentOf(database)).at(-1))).counts)
  await onTarget(`truncate ${tables.join()} cascade`)
  t.match(await json(`copy --to ${url}`), [{ copied: 17, seconds: Number }])
})

t.test('beside servers, a database on PostgreSQL is copied to another', { skip: serverUrl === undefined }, async t => {
  if (serverUrl === undefined) return
  const target = await createDatabase(t, serverUrl)
  const { db } = database
  await sql`insert into museums (license_id, name) select 1, 'Museum ' || n from generate_series(1, 12000) n`.execute(
    db,
  )
  t.match(await type(`copy --to ${target}`), { code: 0, output: /^Copied 12,017 records/ })
  t.strictSame(await contentOfTarget(target), await contentOf(database))
  await sql`delete from museums where name like 'Museum %'`.execute(db)
})

const misplaced = 'The URL goes after --to.'
const unknown = 'There is no option --too. Did you mean --to?'
const invalid = '--to must be a valid URL that begins with postgres://.'
const unusable = 'The database of --to cannot be used:'
const refused: [words: string, code: number, reason: string][] = [
  ['', 2, misplaced],
  ['postgres://portico:hunter2@127.0.0.1/portico', 2, misplaced],
  [`--to ${url} ${url} ${url}`, 2, misplaced],
  [`--too ${url}`, 2, unknown],
  [`--too=${url}`, 2, unknown],
  ['--to', 2, "Option '--to <value>' argument missing."],
  ['--to mysql://portico:hunter2@127.0.0.1/portico', 2, invalid],
  ['--to postgres://portico:hunter2@127.0.0.1:port', 2, invalid],
  ['--to postgres://portico:hunter2%zz@127.0.0.1:1/portico', 1, unusable],
  ['--to postgres://portico:hunter2@nowhere.invalid/portico', 1, `${unusable} getaddrinfo`],
  ['--to postgres://portico:hunter2@127.0.0.1:1/portico', 1, `${unusable} connect ECONN`],
]
for (const [words, code, reason] of refused) {
  t.test(`"copy ${words.replaceAll(/:\d+/g, ':port')}" is refused in one line without the password`, async t => {
    const result = await type(`copy ${words}`)
    t.strictSame([result.code, result.output], [code, ''])
    t.ok(result.errors.startsWith(`portico: ${reason}`), result.errors)
    t.match(result.errors, /^[^\n]+\n$/)
    t.notMatch(result.errors, 'hunter2')
  })
}
