import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { seed } from '../../src/database/migrate.ts'
import { contentOf, emptyingTest, exportLines, fillDatabase, removeRecords } from '../support/backup-records.ts'
import { breakTable, breakTransactions } from '../support/broken-database.ts'
import { addUser, build, heardOf, openTestDatabase, signIn, testPassword } from '../support/site.ts'
import { makeFolder } from '../support/folder.ts'
import { commandsOn, inPieces, runCommand } from '../support/run-command.ts'
import { makeEmbeddedFolder, serverUrl } from '../support/test-database.ts'

const database = await openTestDatabase(t)
const { db } = database
await seed(db)
await fillDatabase(database)
const { type, json, print, refusal } = commandsOn(database)
const exported = await exportLines(database)
const content = exported.slice(1)
await removeRecords(database)
const [header = ''] = exported
const ending = String(exported.at(-1))
const empty = await contentOf(database)
const test = emptyingTest(t, database)

/** Restores bytes from standard input. */
async function restore(input: string | Buffer | Readable = textOf(exported)): Promise<void> {
  const { code, errors } = await type('restore', { input })
  if (code !== 0 || errors !== '') throw new Error(errors)
}

/** Asserts that a restore changes nothing, and says so with this sentence. */
async function refuses(t: Test, sentence: string | RegExp, input: string | Buffer | Readable = textOf(exported)) {
  const before = await contentOf(database)
  const reason = await refusal('restore', { input })
  if (typeof sentence === 'string') t.equal(reason, sentence)
  else t.match(reason, sentence)
  t.notMatch(reason, /argon|\n/)
  t.strictSame(await contentOf(database), before)
  return reason
}

function textOf(lines: readonly string[]): string {
  return lines.map(line => `${line}\n`).join('')
}

/** The number of the first line that contains a text. */
function numberOf(text: string): number {
  return exported.findIndex(line => line.includes(text)) + 1
}

/** The export with the first line that contains a text changed. */
function changed(text: string, change: (line: string) => string): string {
  return textOf(exported.map((line, index) => (index === numberOf(text) - 1 ? change(line) : line)))
}

/** The export with a change to its header, or to another line that is JSON. */
function withMembers(members: object, text = '"format"'): string {
  return changed(text, line => JSON.stringify({ ...JSON.parse(line), ...members }))
}

/** The export with a change to a record. */
function withFields(text: string, fields: object): string {
  return changed(text, line => {
    const { table, record } = JSON.parse(line)
    return JSON.stringify({ table, record: { ...record, ...fields } })
  })
}

test('an export of the restored records equals the first export, but for its time', async t => {
  const { code, output, errors } = await type('restore', { input: textOf(exported) })
  t.strictSame([code, errors], [0, ''])
  t.match(output, /^Restored 17 records(?: in \d+\.\d s)?\.\n$/)
  const again = await exportLines(database)
  t.strictSame(again.slice(1), content)
  t.strictSame({ ...JSON.parse(String(again[0])), time: '' }, { ...JSON.parse(header), time: '' })
  const nextId = await addUser(database, { email: 'next@museum.test' })
  t.equal(nextId, '3', 'ids continue, even after those of removed users')
})

test('a restored user signs in, and restored sites are served at once', async t => {
  const app = await build(t, { database })
  const ask = async () => (await app.inject({ url: '/', headers: { host: 'museum.test' } })).statusCode
  t.equal(await ask(), 404)
  const heard = await heardOf(database, () => restore())
  t.ok(heard.includes('licenses museum.test'))
  t.equal(await ask(), 401)
  await signIn(app, { host: 'museum.test', email: 'reader@museum.test', password: testPassword })
})

for (const [said, highest, next] of [
  ['1', '7', '8'],
  ['9', '7', '9'],
  ['9', '9223372036854775807', '9223372036854775807'],
] as const) {
  test(`after an export whose next id is ${said} and highest id ${highest}, the next id is ${next}`, async t => {
    const { next_ids: nextIds } = JSON.parse(ending)
    const text = withFields('"code":"fy"', { id: highest })
      .replace('"language_id":"2"', `"language_id":"${highest}"`)
      .replace(JSON.stringify(nextIds), JSON.stringify({ ...nextIds, languages: said }))
    await restore(text)
    t.equal(JSON.parse(String((await contentOf(database)).at(-1))).next_ids.languages, next)
  })
}

test('an export may arrive in any pieces, with any line ends, and without the last one', async t => {
  await restore(inPieces(exported.join('\r\n')))
  t.strictSame(await contentOf(database), content)
})

test('the banner that npm prints before an export does no harm', async t => {
  const banner = '\n> portico@1.0.0 portico\n> node build.js && exec node main.js export\n\n'
  await restore(banner + textOf(exported))
  t.strictSame(await contentOf(database), content)
  await removeRecords(database)
  const reason = 'Nothing was restored. line 5 of the input: The export is cut off after this line.'
  await refuses(t, reason, `${banner}${header}\n`)
})

test('a file is named with or without --input, and "-" is standard input', async t => {
  const path = join(makeFolder(t), 'all.ndjson')
  writeFileSync(path, textOf(exported))
  for (const words of [path, `--input ${path}`, '-']) {
    const { errors } = await type(`restore ${words}`, { input: textOf(exported), terminals: ['errors'] })
    t.match(errors, words === '-' ? /\d records, / : /█+ 100 % {2}\d+ records, /, 'a terminal shows the progress')
    t.match(errors, / a second\r.\[K$/, 'and at the end nothing')
    t.strictSame(await contentOf(database), content)
    await removeRecords(database)
  }
  t.match(await json(`restore ${path}`), [{ restored: 17, seconds: Number }])
  await removeRecords(database)
  writeFileSync(path, `${header}\n`)
  const reason = await refusal(`restore ${path}`)
  t.equal(reason, `Nothing was restored. line 1 of ${path}: The export is cut off after this line.`)
})

t.test('at a terminal a file is missing', async t => {
  t.match(await type('restore', { terminals: ['input'] }), {
    code: 2,
    errors: /^portico: <file> is missing\.[^\n]+\n$/,
  })
})

test('an older export has fewer columns, and the others get their defaults', async t => {
  const { tables, ...rest } = JSON.parse(header)
  const newer = ['protected', 'valid_from', 'valid_until', 'suspended']
  const columns = tables.licenses.filter((name: string) => !newer.includes(name))
  const older = { ...rest, migration: '0001-records', tables: { ...tables, licenses: columns } }
  const records = textOf(exported.slice(1)).replaceAll(
    /"protected":(?:true|false),|,"valid_from":"[^"]+"|,"valid_until":(?:null|"[^"]+")|,"suspended":(?:true|false)/g,
    '',
  )
  await restore(`${JSON.stringify(older)}\n${records}`)
  const defaults = { protected: false, valid_from: null, valid_until: null, suspended: false }
  t.strictSame(
    await db.selectFrom('licenses').select(['protected', 'valid_from', 'valid_until', 'suspended']).execute(),
    [defaults, defaults],
  )
})

test('columns of any type keep their values', async t => {
  await sql`alter table museums add column notes jsonb, add column tags text[], add column opened date`.execute(db)
  await restore()
  await sql`update museums set notes = '{"a":[1,null,"é"]}', tags = '{a,"b c"}', opened = '2026-01-31'`.execute(db)
  const lines = await exportLines(database)
  await removeRecords(database)
  await restore(textOf(lines))
  t.strictSame(await contentOf(database), lines.slice(1))
  t.match(lines.join('\n'), '"notes":{"a": [1, null, "é"]},"tags":["a","b c"],"opened":"2026-01-31"')
  await sql`alter table museums drop column notes, drop column tags, drop column opened`.execute(db)
})

test('among many records, the one that is wrong is named', async t => {
  const many = Array.from({ length: 12_000 }, (_, index) => ({
    table: 'platforms',
    record: { id: String(index + 1), name: `Platform ${index === 7776 ? 5 : index}` },
  }))
  const counts = { counts: { platforms: 12_000 }, next_ids: {} }
  const lines = [JSON.parse(header), ...many, counts].map(value => JSON.stringify(value))
  await refuses(
    t,
    'Nothing was restored. line 7778 of the input: Key (name)=(Platform 5) already exists.',
    textOf(lines),
  )
  const right = lines.map((line, index) => (index === 7777 ? line.replace('Platform 5', 'Platform new') : line))
  t.match(await print('restore', { input: textOf(right) }), /^Restored 12,000 records/)
})

test('records of nearly the greatest length are restored', async t => {
  const users = Array.from({ length: 6 }, (_, index) => ({
    email: `${index}@museum.test`,
    password_hash: 'é'.repeat(500_000),
  }))
  await db.insertInto('users').values(users).execute()
  const lines = await exportLines(database)
  await removeRecords(database)
  await restore(textOf(lines))
  t.strictSame(await contentOf(database), lines.slice(1))
})

const license = numberOf('"domain":"museum.test"')
const museum = numberOf('"table":"museums"')
const user = numberOf('reader@')
const frisian = numberOf('"code":"fy"')
const position = numberOf('"position":0')
const last = exported.length
const { tables } = JSON.parse(header)
const tooHigh = { ...JSON.parse(ending).counts, users: 7 }
const all = textOf(exported)
const bytes = Buffer.from(all)
const longTag = `nl${Array.from({ length: 10_000 }, (_, index) => `-x${index}`).join('')}`
const withUser = (fields: object) => withFields('reader@', fields)
const withLicense = (fields: object) => withFields('museum.test","name"', fields)
const withTables = (tables: object) => withMembers({ tables })

const noExport = 'The file is not an export of Portico.'
const noHeader = 'The line is not the header of an export.'
const noJson = 'The line is not JSON.'
const noUtf8 = 'The line is not UTF-8.'
const cut = 'The export is cut off after this line.'
const cutWithin = 'The export is cut off within this line.'
const ended = 'The export has ended before this line.'
const neither = 'The line is neither a record nor the end of an export.'
const newerFormat = 'The export has version 2 of the format, and this version of Portico reads 1.'
const newerVersion = 'The export is of a newer version of Portico: this one has no migration "9999-newer".'
const noLicense = 'Key (license_id)=(999) is not present in table "licenses".'
const miscounted = (count: number, table: string) => `The export should have ${count} records of ${table}, and has 1.`
const wholeNumber = 'position must be a whole number.'
const time = 'created_at must be a time such as 2026-01-31T12:00:00+00:00.'
const unfit = /^The database refuses it: /
const outOfRange = /^The database refuses it: .*out of range.*\.$/
const missingValue = /^The database refuses it: .*not-null constraint\.$/
const period = /^The database refuses it: .*licenses_valid_.*\.$/
const tooLong = 'The line has more than 1,048,576 bytes.'

type Refused = [input: string | Buffer, line: number, reason: string | RegExp]

/** Exports that something is wrong about, the line at which a restore stops, and what it says. */
const hostile: Record<string, Refused> = {
  'an empty file': ['', 1, 'The file has no export.'],
  'a file that ends between two lines': [textOf(exported.slice(0, 5)), 5, cut],
  'a file that ends within a line': [all.slice(0, -20), last, cutWithin],
  'invalid UTF-8': [Buffer.concat([bytes.subarray(0, header.length), Buffer.from('\xff\n', 'latin1')]), 1, noUtf8],
  'an export twice': [all + all, last + 1, ended],
  'a record twice': [changed('"code":"nl"', line => `${line}\n${line}`), frisian, 'Key (id)=(1) already exists.'],
  'a file that lacks a line': [textOf(exported.toSpliced(museum - 1, 1)), last - 1, miscounted(2, 'museums')],
  "another program's JSON": ['{"format":"other"}\n', 1, noExport],

  'a header without tables': [withMembers({ tables: undefined }), 1, noHeader],
  'a newer format': [withMembers({ version: 2, tables: 2 }), 1, newerFormat],
  'a newer migration': [withMembers({ migration: '9999-newer' }), 1, newerVersion],
  'a line without a table': [changed('"table":"museums"', () => '{}'), museum, neither],
  'an ending with SQL': [
    changed('"counts"', () => '{"counts":{},"next_ids":{"users":"1; drop table users"}}'),
    last,
    neither,
  ],
  'an unknown table': [withTables({ ...tables, secrets: [] }), 1, 'There is no table "secrets".'],
  'an inherited table': [withTables({ ['__proto__']: [] }), 1, 'There is no table "__proto__".'],
  'an inherited migration': [withMembers({ migration: 'constructor' }), 1, 'has no migration "constructor".'],
  'columns that are no names': [withTables({ ...tables, users: [{ toString: 1 }] }), 1, noHeader],
  'an unknown column in the header': [withTables({ users: ['id', 'role'] }), 1, 'users has no column "role".'],
  'no column of ids': [withTables({ users: ['email'] }), 1, 'The line leaves out the column id of users.'],

  'no JSON in the middle': [changed('"code":"fy"', () => '{'), frisian, noJson],
  'a count that is too high': [withMembers({ counts: tooHigh }, '"counts"'), last, miscounted(7, 'users')],
  'a record of an unknown table': [
    withMembers({ table: 'users"; drop table users; --' }, '"table":"museums"'),
    museum,
    'The header has no table "users\\"; drop table users; --".',
  ],

  'an unknown column': [withUser({ role: 'admin' }), user, '"role" is no column.'],
  'a missing column': [withUser({ admin: undefined }), user, 'admin is missing.'],
  'an id as a number': [withUser({ id: 1 }), user, 'id must be a whole number, as text.'],
  'an id that is too high': [withUser({ id: '9999999999999999999' }), user, outOfRange],
  'a flag as text': [withUser({ admin: 'true' }), user, 'admin must be true or false.'],
  'a text as a number': [withUser({ email: 7 }), user, 'email must be text.'],
  'an e-mail address that is null': [withUser({ email: null }), user, missingValue],
  'a line that is too long': [withUser({ email: 'x'.repeat(2 ** 20) }), user, tooLong],
  'a number with a fraction': [withFields('"position":0', { position: 0.5 }), position, wholeNumber],
  'a time in words': [withLicense({ created_at: 'yesterday' }), license, time],
  'an end before the beginning': [withLicense({ valid_until: '0001-01-01T00:00:00+00:00' }), license, period],
  'a NUL': [withLicense({ name: 'a\0b' }), license, unfit],
  'a domain in capitals': [withLicense({ domain: 'MUSEUM.test' }), license, /licenses_domain_is_a_host"\.$/],
  'a tag that is too long for its index': [withFields('"code":"nl"', { code: longTag }), frisian - 1, unfit],
  'a museum of a missing license': [withFields('"table":"museums"', { license_id: '999' }), museum, noLicense],
}

for (const [what, [input, line, expected]] of Object.entries(hostile)) {
  t.test(`${what} is refused with its line, and nothing changes`, async t => {
    const reason = await refuses(t, /^Nothing was restored\. /, input)
    const begin = `Nothing was restored. line ${line} of the input: `
    t.equal(reason.slice(0, begin.length), begin)
    t.match(reason.slice(begin.length), expected)
  })
}

t.test('an endless line is read no further than the longest record', async t => {
  const endless = Readable.from(
    (function* () {
      yield Buffer.from(`${header}\n`)
      for (let read = 0; read < 4 * 1024 * 1024; read += 64 * 1024) yield Buffer.alloc(64 * 1024, '[')
      throw new Error('It goes on reading.')
    })(),
  )
  await refuses(t, 'Nothing was restored. line 2 of the input: The line has more than 1,048,576 bytes.', endless)
})

t.test('a fault of the database is no bad line, and changes nothing', async t => {
  const mend = await breakTable(database, 'users')
  await refuses(t, 'The database refused the command: it failed. This command changed no records.')
  await mend()
})

const skip = serverUrl === undefined && 'TEST_DATABASE_URL names none'
t.test('a connection that breaks during a restore is told in one line, and nothing changes', { skip }, async t => {
  const input = Readable.from(
    (async function* () {
      yield textOf(exported.slice(0, -1))
      // The input is read ahead of the transaction.
      await breakTransactions(db)
      yield ending
    })(),
  )
  await refuses(t, /^The database was lost: [^\n]+\.$/, input)
})

t.test('an input that fails changes nothing', async t => {
  const broken = Readable.from(
    (function* () {
      yield textOf(exported.slice(0, -1))
      throw new Error('The disk is gone.')
    })(),
  )
  await t.rejects(restore(broken), /The disk is gone/)
  t.strictSame(await contentOf(database), empty)
})

test('a database with a user is not empty', async t => {
  await addUser(database, { email: 'here@museum.test' })
  await refuses(t, 'Nothing was restored. The database is not empty: it has users.')
})

/** Adds the demonstration records to an empty database, as the first start of an embedded one does. */
async function seedAgain(): Promise<void> {
  await removeRecords(database)
  await sql`delete from portico_seeds`.execute(db)
  await seed(db)
}

test('demonstration records that nobody has changed are replaced', async t => {
  await seedAgain()
  await restore()
  t.strictSame(await contentOf(database), content)
})

test('a database that a dump was restored to in one transaction is not empty', async t => {
  await seedAgain()
  await db.transaction().execute(async transaction => {
    const { rows } = await sql<{ name: string }>`
      select tablename as name from pg_tables where schemaname = current_schema()`.execute(transaction)
    for (const { name } of rows) await rewrite(transaction, name)
  })
  await refuses(t, /^Nothing was restored. The database is not empty: it has .*licenses/)
  await removeRecords(database)
})

/** Writes all rows of a table again. */
async function rewrite(db: typeof database.db, name: string): Promise<void> {
  const [column] = (
    await sql<{ name: string }>`
      select attname as name from pg_attribute
      where attrelid = ${name}::regclass and attnum > 0 and not attisdropped and attidentity = '' limit 1`.execute(db)
  ).rows
  const ref = sql.ref(column?.name ?? '')
  await sql`update ${sql.table(name)} set ${ref} = ${ref}`.execute(db)
}

test('demonstration records that rows of other tables refer to are kept', async t => {
  await seedAgain()
  await sql`create table "Site visits" (license_id bigint references licenses (id) on delete cascade)`.execute(db)
  await sql`create table visits (license_id bigint references licenses (id) on delete cascade)`.execute(db)
  await sql`insert into visits select id from licenses`.execute(db)
  await refuses(t, /The database is not empty: it has visits\.$/)
  t.not((await sql`select from visits`.execute(db)).rows.length, 0)
  await sql`insert into "Site visits" select id from licenses`.execute(db)
  await refuses(t, /The database is not empty: it has Site visits, visits\.$/)
  await sql`truncate visits, "Site visits"`.execute(db)
  await restore()
  await sql`drop table visits, "Site visits"`.execute(db)
})

for (const [what, table, change] of [
  ['changed', 'licenses', sql`update licenses set name = 'Mine' where domain = 'localhost'`],
  ['added', 'museums', sql`insert into museums (license_id, name) values (1, 'Mine')`],
] as const) {
  test(`a database whose demonstration records were ${what} is not empty`, async t => {
    await seedAgain()
    await change.execute(db)
    await refuses(t, `Nothing was restored. The database is not empty: it has ${table}.`)
    await removeRecords(database)
  })
}

test('a running server answers while the embedded database beside it is restored, and then serves the sites', async t => {
  const dataDir = makeEmbeddedFolder(t)
  const server = await openDatabase({ databaseUrl: undefined, dataDir })
  t.teardown(() => server.close())
  const app = await build(t, { database: server })
  const ask = async (host: string) => (await app.inject({ url: '/', headers: { host } })).statusCode
  t.equal(await ask('localhost'), 200)
  const answers: number[] = []
  async function* slowly() {
    yield textOf(exported.slice(0, -5))
    answers.push(await ask('localhost'))
    yield textOf(exported.slice(-5))
  }
  const beside = () => openDatabase({ databaseUrl: undefined, dataDir, patient: true })
  await heardOf(server, async () => {
    const result = await runCommand('restore', { openDatabase: beside, input: Readable.from(slowly()) })
    t.equal(result.errors, '')
  })
  t.strictSame(answers, [200])
  t.strictSame([await ask('localhost'), await ask('museum.test')], [404, 401])
  const { output } = await runCommand('export', { openDatabase: beside })
  t.strictSame(output.trimEnd().split('\n').slice(1), content)
})
