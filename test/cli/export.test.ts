import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import t from 'tap'
import { exportRecords } from '../../src/backup/export.ts'
import { readConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/database/database.ts'
import { unavailable } from '../../src/database/failures.ts'
import { writePrivateFile } from '../../cli/files.ts'
import { contentOf, exportLines, fillDatabase } from '../support/backup-records.ts'
import { makeFolder } from '../support/folder.ts'
import { commandsOn } from '../support/run-command.ts'
import { openTestDatabase } from '../support/site.ts'
import { serverUrl } from '../support/test-database.ts'

const database = await openTestDatabase(t)
const { db } = database
await fillDatabase(database)
const { type, print, refusal } = commandsOn(database)

t.test('an export is a header, a record a line with its exact values, and an ending', async t => {
  const lines = await exportLines(database)
  const header = JSON.parse(String(lines[0]))
  t.match(header, { format: 'portico-export', version: 1, migration: /^\d{4}-/, time: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/ })
  t.strictSame(header.tables.users, ['id', 'email', 'password_hash', 'admin'])

  const license = lines.find(line => line.startsWith('{"table":"licenses","record":{"id":"1",'))
  t.match(JSON.parse(String(license)).record, {
    domain: 'museum.test',
    name: '\'"\\</script>\u2028 Müzesi 博物館 💥',
    created_at: '2026-01-01T21:34:05.678901+00:00',
    valid_from: '0001-01-01T00:00:00.000001+00:00',
    valid_until: '9999-12-31T23:59:59.999+00:00',
    suspended: false,
  })
  t.ok(lines.includes('{"table":"platforms","record":{"id":"9007199254740993","name":"far"}}'))
  t.ok(lines.includes('{"table":"ended_sessions","record":{"session":"first","expires_at":"infinity"}}'))
  t.match(lines.filter(line => line.includes('reader@museum.test')).join(), '$argon2id$')

  const { counts, next_ids: nextIds } = JSON.parse(String(lines.at(-1)))
  t.match(counts, { licenses: 2, museums: 2, users: 1, api_tokens: 1, ended_sessions: 2, license_platforms: 1 })
  t.match(nextIds, { licenses: '3', users: '3', platforms: '9007199254740994' })
  const sum = Object.values<number>(counts).reduce((sum, count) => sum + count, 0)
  t.equal(lines.length, sum + 2)
})

t.test('an export has all tables but counters and links, and each after those that it refers to', async t => {
  const [header = ''] = await exportLines(database)
  const exported = Object.keys(JSON.parse(header).tables)
  const tables = (await db.introspection.getTables()).map(({ name }) => name)
  t.strictSame(
    [...exported, 'password_resets', 'sign_in_attempts'].sort(),
    tables.filter(name => !name.startsWith('portico_')).sort(),
  )
  const { rows } = await sql<{ from: string; to: string }>`
    select conrelid::regclass::text as from, confrelid::regclass::text as to from pg_constraint where contype = 'f'
  `.execute(db)
  const kept = rows.filter(({ from }) => exported.includes(from))
  t.ok(kept.length > 0)
  for (const { from, to } of kept) t.ok(exported.indexOf(from) > exported.indexOf(to), `${from} refers to ${to}`)
})

t.test('an export shows the moment at which it began', async t => {
  const before = await contentOf(database)
  const pieces = exportRecords(database, [], () => {})
  const { value: header } = await pieces.next()
  const adding = db.insertInto('languages').values({ code: 'sv', name: 'Svenska' }).execute()
  // The one connection of an embedded database is free only after the export.
  if (serverUrl !== undefined) await adding
  let text = String(header)
  for await (const piece of pieces) text += piece
  await adding
  const records = text.trimEnd().split('\n').slice(1, -1)
  t.strictSame(records, before.slice(0, -1))
  await db.deleteFrom('languages').where('code', '=', 'sv').execute()
})

t.test('an export of many records is read in several queries', async t => {
  await sql`insert into groups (license_id, name) select 1, 'Group ' || n from generate_series(1, 4500) n`.execute(db)
  const lines = await exportLines(database)
  t.equal(lines.filter(line => line.includes('"name":"Group ')).length, 4500)
  t.equal(JSON.parse(String(lines.at(-1))).counts.groups, 4501)
  await sql`delete from groups where name like 'Group %'`.execute(db)
})

t.test('an export into a file is the same as to standard output, and only its user can read the file', async t => {
  const path = join(makeFolder(t), 'all.ndjson')
  const { code, output, errors } = await type(`export --output ${path}`, { terminals: ['output', 'errors'] })
  t.equal(code, 0)
  t.match(output, /^Exported 17 records(?: in \d+\.\d s)?\.\n$/)
  t.match(errors, /█+░+ +\d+ % {2}\d+ records, [\d,]+ a second/)
  t.ok(errors.endsWith('\r\u001b[K'))
  const content = await contentOf(database)
  t.strictSame(readFileSync(path, 'utf8').trimEnd().split('\n').slice(1), content)
  t.equal(lstatSync(path).mode & 0o777, 0o600)
  t.strictSame((await print('export --output -')).trimEnd().split('\n').slice(1), content)
})

t.test('an existing file is replaced only with --force, and is then private', async t => {
  const folder = makeFolder(t)
  const path = join(folder, 'all.ndjson')
  writeFileSync(path, 'precious', { mode: 0o644 })
  t.equal(await refusal(`export --output ${path}`), `${path} exists already. --force replaces it.`)
  t.equal(readFileSync(path, 'utf8'), 'precious')
  const output = await print(`export --output ${path} --force --json`)
  t.match(JSON.parse(output), { exported: 17, seconds: Number })
  t.match(readFileSync(path, 'utf8'), /^\{"format":"portico-export"/)
  t.equal(lstatSync(path).mode & 0o777, 0o600)
  t.strictSame(readdirSync(folder), ['all.ndjson'])
})

t.test('only a file is replaced, and no folder, link or device', async t => {
  const folder = makeFolder(t)
  mkdirSync(join(folder, 'folder'))
  writeFileSync(join(folder, 'target'), 'precious')
  symlinkSync('target', join(folder, 'link'))
  for (const path of [join(folder, 'folder'), join(folder, 'link'), '/dev/null']) {
    t.equal(await refusal(`export --output ${path} --force`), `${path} is not a file.`)
  }
  t.equal(readFileSync(join(folder, 'target'), 'utf8'), 'precious')
})

const noSpace = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
for (const [what, interrupt, message] of [
  ['a full disk', () => Promise.reject(noSpace), `cannot be written: ${noSpace.message}.`],
  [
    'an interruption',
    async () => {
      process.emit('SIGTERM')
    },
    'was not written, because the command was interrupted.',
  ],
] as const) {
  t.test(`${what} leaves no file behind, and an old one as it was`, async t => {
    const folder = makeFolder(t)
    const path = join(folder, 'all.ndjson')
    async function* content() {
      yield 'half'
      await interrupt()
      yield 'the rest'
    }
    const refusal = { name: 'CommandError', message: `${path} ${message}` }
    await t.rejects(writePrivateFile(path, content(), false), refusal)
    t.strictSame(readdirSync(folder), [])
    writeFileSync(path, 'precious')
    await t.rejects(writePrivateFile(path, content(), true), refusal)
    t.strictSame(readdirSync(folder), ['all.ndjson'])
    t.equal(readFileSync(path, 'utf8'), 'precious')
  })
}

t.test('a database that does not exist is not exported, and not created', async t => {
  const dataDir = join(makeFolder(t), 'none')
  const openMissing = async (options: object = {}) => openDatabase({ ...readConfig({ DATA_DIR: dataDir }), ...options })
  for (const words of ['export', 'copy --to postgres://127.0.0.1:1/none']) {
    const reason = await refusal(words, { openDatabase: openMissing })
    t.match(reason, /^The embedded database in .* cannot be opened: it does not exist\.$/)
  }
  t.notOk(existsSync(join(dataDir, 'pglite', 'PG_VERSION')))
})

t.test('a record that is too long to be restored ends the export, which leaves no file behind', async t => {
  const folder = makeFolder(t)
  const secret = 'x'.repeat(1024 * 1024)
  await db.insertInto('users').values({ email: 'long@museum.test', password_hash: secret }).execute()
  t.equal(
    await refusal(`export --output ${join(folder, 'all.ndjson')}`),
    'A record of users has more than 1,048,576 bytes.',
  )
  t.strictSame(readdirSync(folder), [])
  await db.deleteFrom('users').where('email', '=', 'long@museum.test').execute()
})

t.test('a database with newer migrations is not exported, because tables could be missing', async t => {
  await sql`insert into portico_migrations (name, timestamp) values ('9999-newer', '')`.execute(db)
  t.equal(await refusal('export'), 'The database has the migration 9999-newer of a newer version. Export it with that.')
  await sql`delete from portico_migrations where name = '9999-newer'`.execute(db)
})

t.test('a database that is lost is told in one line', async t => {
  const openDatabase = () => Promise.reject(unavailable(new Error('The connection\nwas cut')))
  t.equal(await refusal('export', { openDatabase }), 'The database was lost: The connection was cut.')
})

t.test('a terminal shows no export, because it has secrets', async t => {
  t.strictSame(await type('export', { terminals: ['output'] }), {
    code: 2,
    output: '',
    errors:
      'portico: An export has secrets, which a terminal would show. Use --output, or redirect it. npm run portico -- export --help shows how.\n',
  })
})
