import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { seed } from '../../src/database/migrate.ts'
import { formats } from '../../src/records/validation.ts'
import { breakTable, breakTransactions } from '../support/broken-database.ts'
import { addUser, build, heardOf, openTestDatabase, signIn } from '../support/site.ts'
import { makeFolder } from '../support/folder.ts'
import { commandsOn, inPieces } from '../support/run-command.ts'
import { createDatabase, serverUrl } from '../support/test-database.ts'

const database = await openTestDatabase(t)
const { db } = database
await seed(db)
const { type, json, print, refusal } = commandsOn(database)
const folder = makeFolder(t)

/** A file with these lines. @returns its path */
function file(name: string, ...lines: (string | object)[]): string {
  const path = join(folder, name)
  writeFileSync(path, lines.map(line => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''))
  return path
}

/** Imports what is piped in. */
async function importInto(kind: string, format: string, input: string | Readable) {
  return await type(`${kind} import - --format ${format}`, { input })
}

const clearLine = '\r\u001b[K'

t.test('an import adds all lines, with defaults, and they are served at once', async t => {
  const app = await build(t, { database })
  t.equal((await app.inject({ url: '/', headers: { host: 'csv2.test' } })).statusCode, 404)
  const path = file(
    'some.csv',
    '\ufeffdomain,name,type_id,protected,language_ids',
    'csv1.test,"One, and first",1,true,"2,1"',
    '',
    'csv2.test,Two,1,,',
  )
  let result
  await heardOf(database, async () => {
    result = await type(`license import ${path}`)
  })
  t.match(result, { code: 0, output: /^Added 2 licenses(?: in \d+\.\d s)?\.\n$/, errors: '' })
  t.match(await json('license show csv1.test'), [
    { name: 'One, and first', protected: true, language_ids: ['2', '1'], platform_ids: [] },
  ])
  const defaults = { protected: false, suspended: false, valid_from: null, valid_until: null, language_ids: [] }
  t.match(await json('license show csv2.test'), [defaults])
  const { license } = (
    await app.inject({ url: '/', headers: { host: 'csv2.test', accept: 'application/json' } })
  ).json()
  t.equal(license.name, 'Two')
})

t.test('an import with --update changes the records it knows, and keeps the fields that a line leaves out', async t => {
  await print('license add --domain known.test --name Old --type demonstration --languages en,de --protected')
  const path = file(
    'update.ndjson',
    { domain: 'known.test', name: 'New', type_id: '1', language_ids: ['3'] },
    { domain: 'added.test', name: 'First', type_id: '1', protected: true },
    { domain: 'added.test', name: 'Last', type_id: '1' },
  )
  const before = await json('license list')
  t.match(
    await print(`license import ${path} --update --dry-run`),
    /^Nothing was changed\. Without --dry-run: added 1 and changed 2 licenses/,
  )
  t.match(await json(`license import ${path} --dry-run`), [{ added: 3, isDryRun: true }])
  t.strictSame(await json('license list'), before)
  t.match(await print(`license import ${path} --update`), /^Added 1 and changed 2 licenses/)
  t.match(await json('license show known.test'), [{ name: 'New', protected: true, language_ids: ['3'] }])
  t.match(await json('license show added.test'), [{ name: 'Last', protected: true }])
  t.match(await json(`license import ${path} --update`), [{ added: 0, changed: 3 }])
})

t.test('an import names records as people know them', async t => {
  const path = file(
    'named.csv',
    'domain,name,type,languages',
    'named.test,Named,demonstration,"de, en"',
    'bare.test,Bare,demonstration,',
  )
  t.match(await print(`license import ${path}`), /^Added 2 licenses\b/)
  t.match(await json('license show named.test'), [{ type_id: '1', language_ids: ['2', '1'] }])
  t.match(await json('license show bare.test'), [{ language_ids: [] }])
  await print('license import - --format ndjson --update', {
    input: '{"domain":"named.test","name":"Named","type":"demonstration","languages":["fr"]}\n',
  })
  t.match(await json('license show named.test'), [{ language_ids: ['3'] }])
  const museum = await print('museum import - --format csv', { input: 'license,name\nnamed.test,Bridges\n' })
  t.match(museum, /^Added 1 museum(?: in \d+\.\d s)?\.\n$/)
  const { id } = (await json('license show named.test'))[0]
  t.match(await json(`museum list --license-id ${id}`), [{ name: 'Bridges' }])
  await print('license add --domain bare.test --name Bare --type demonstration')
  const lines = ['named.test', 'nowhere.test', 'bare.test', 'a\0b', '', null, 7]
  t.equal(
    await refusal(
      `museum import ${file('unnamed.ndjson', ...lines.map(license => ({ license, name: 'Arches' })), { license: 'named.test', license_id: id, name: 'Twice' })}`,
    ),
    `Nothing was added: 7 lines of ${join(folder, 'unnamed.ndjson')} are invalid.
  line 2: The line names no existing license "nowhere.test".
  line 3: The line names more than one license "bare.test".
  line 4: The line names no existing license "a\\u0000b".
  line 5: license_id must be ${formats.id.expects}.
  line 6: license_id must be ${formats.id.expects}.
  line 7: The line names no existing license "7".
  line 8: "license" is not a known field.`,
  )
})

t.test('with --update an empty cell or "none" takes a time back, but no flag', async t => {
  const times = ['2027-01-01T00:00:00.000Z', '2900-01-01T00:00:00.000Z'] as const
  for (const [columns, cells, shown] of [
    ['suspended,valid_from,valid_until', `true,${times.join()}`, { valid_from: times[0], valid_until: times[1] }],
    ['suspended,valid_until', ',', { valid_from: times[0], valid_until: null }],
    ['valid_from', 'none', { valid_from: null, valid_until: null }],
  ] as const) {
    const input = `domain,name,type_id,${columns}\ntimed.test,Timed,1,${cells}\n`
    await print('license import - --format csv --update', { input })
    t.match(await json('license show timed.test'), [{ suspended: true, ...shown }])
  }
})

t.test('an import with --update finds users whatever the case, and leaves an admin', async t => {
  const admins = await db.updateTable('users').set({ admin: false }).where('admin', '=', true).returning('id').execute()
  await addUser(database, { email: 'Upper@museum.test', admin: true })
  const words = 'user import - --format ndjson --update'
  const user = { email: 'uPPER@museum.test', password: 'four doors and an arch' }
  const input = (admin: boolean) => ({ input: JSON.stringify({ ...user, admin }) })
  t.match(await print(words, input(true)), /^Added 0 and changed 1 user\b/)
  t.match(await refusal(words, input(false)), /line 1: This user is the only admin\./)
  for (const { id } of admins) await db.updateTable('users').set({ admin: true }).where('id', '=', id).execute()
})

t.test('a fault of the database during --update is no bad line', async t => {
  const mend = await breakTable(database, 'platforms')
  const reason = await refusal(`platform import ${file('fault.ndjson', { name: 'web' })} --update`)
  t.equal(reason, 'The database refused the command: it failed. This command changed no records.')
  await mend()
})

t.test('imported users can sign in', async t => {
  const path = file(
    'users.ndjson',
    { email: 'one@museum.test', password: 'four doors and an arch', group_ids: ['1'] },
    { email: 'two@museum.test', password: 'five doors and no arch', admin: true },
  )
  await print(`user import ${path}`)
  const app = await build(t, { database })
  await signIn(app, { host: 'localhost', email: 'two@museum.test', password: 'five doors and no arch' })
  t.match(await json('user show one@museum.test'), [{ admin: false, group_ids: ['1'] }])
})

t.test('an import with bad lines names each of them and adds nothing, with or without --dry-run', async t => {
  const before = await json('license list')
  const license = { domain: 'bad.test', name: 'Bad', type_id: '1' }
  const path = file(
    'bad.ndjson',
    license,
    '',
    { ...license, type_id: '77' },
    '{"domain":"bad3.test"',
    { domain: 'BAD', name: ' ', type_id: 1, colour: 'red' },
    ['bad'],
    { ...license, language_ids: ['1', '98', '99'] },
    '{"domain":"bad5.test","name":"P","type_id":"1","__proto__":{"protected":true}}',
    { ...license, valid_from: '2027-02-30T00:00:00Z' },
    { ...license, valid_from: '2027-01-01T00:00:00Z', valid_until: '2026-01-01T00:00:00Z' },
    { ...license, suspended: 'yes' },
  )
  const reason = `Nothing was added: 9 lines of ${path} are invalid.
  line 3: type_id names no existing license type: 77.
  line 4: The line is not JSON.
  line 5: "colour" is not a known field; domain must be ${formats.host.expects}; name must be one line of UTF-8 text without leading or trailing spaces; type_id must be ${formats.id.expects}.
  line 6: The value must be a JSON object.
  line 7: language_ids names no existing language: 98, 99.
  line 8: "__proto__" is not a known field.
  line 9: valid_from must be ${formats['date-time'].expects}.
  line 10: valid_until must be after valid_from.
  line 11: suspended must be true or false.`
  for (const option of ['', '--dry-run']) t.equal(await refusal(`license import ${path} ${option}`), reason)
  t.strictSame(await json('license list'), before)
})

t.test('with --update, lines that make no sense together or with what is stored are named', async t => {
  await print('license add --domain stored.test --name S --type demonstration --valid-from 2027-01-01T00:00:00Z')
  const license = { name: 'N', type_id: '1' }
  const path = file(
    'together.ndjson',
    { ...license, domain: 'stored.test', valid_until: '2026-01-01T00:00:00Z' },
    { ...license, domain: 'both.test', valid_from: '2027-01-01T00:00:00Z' },
    { ...license, domain: 'both.test', valid_until: '2026-01-01T00:00:00Z' },
  )
  const reason = await refusal(`license import ${path} --update`)
  for (const line of [1, 3]) t.match(reason, `\n  line ${line}: valid_until must be after valid_from.`)
  t.match(await refusal('license show both.test'), 'no license')
})

/** What is told about imports, by the format and the input. */
const told: [what: string, format: string, input: string | readonly string[], lines: RegExp[], others?: RegExp][] = [
  [
    'malformed CSV has a line for each mistake',
    'csv',
    'code,name\npt,Português\ntoo,many,cells\nfew\n"never,closed\n',
    [/ line 3: The line is not CSV: /, / line 4: The line is not CSV: /, / line 5: The line is not CSV: /],
  ],
  ...['\n', '\r\n'].map((end): (typeof told)[number] => [
    `CSV lines that end with ${JSON.stringify(end)} are counted, and line feeds within quotes, too`,
    'csv',
    ['code,name', 'it,"Ita\nliano"', 'few', '"nl",Nederlands', 'XX,Wrong', ''].join(end),
    [/ line 3: /, / line 4: /, / line 6: /],
    /line [57]/,
  ]),
  [
    'a line end that arrives in two pieces is one',
    'csv',
    ['code,name\r', '\nit,Italiano\r\nXX,Wrong\r'],
    [/ is invalid\.\n {2}line 3: /],
  ],
  [
    'only a line feed ends a line of NDJSON',
    'ndjson',
    '{"code":"it","name":"a\u2028b"}\r\n{"code":"nl",\r"name":"Nederlands"}\n{}',
    [/ 2 lines of - are invalid\.\n {2}line 1: name must be one line of [^\n]+\n {2}line 3: code is missing/],
  ],
  [
    'a CSV may name a field once',
    'csv',
    'code,name,name\nit,Italiano,Lingua\n',
    [/ is invalid\.\n {2}line 1: The line names "name" twice\.\n/],
  ],
  [
    'a line that repeats an existing record or another line is bad',
    'csv',
    'code,name\nen,English\nsv,Svenska\nsv,Svenska\n',
    [/: 2 lines of - are invalid\.\n {2}line 2: Another language has this code\.\n {2}line 4: Another language has/],
  ],
  [
    'some of very many bad lines are named, and the rest counted',
    'ndjson',
    '{}\n'.repeat(60),
    [/^[^\n]+: 60 lines of - are invalid\.\n {2}line 1: code is missing[^\n]+\n(?:[^\n]+\n){49} {2}and 10 more\.\n$/],
  ],
  ['one bad line is not "lines"', 'ndjson', '{}', [/ is invalid\.\n {2}line 1: code is missing/]],
]

for (const [what, format, input, lines, others = /^$/] of told) {
  t.test(`in an import, ${what}`, async t => {
    const pieces = typeof input === 'string' ? [input] : input
    const { code, errors } = await importInto('language', format, Readable.from(pieces.map(text => Buffer.from(text))))
    t.equal(code, 1)
    for (const line of lines) t.match(errors, line)
    t.notMatch(errors, others)
  })
}

/** An endless stream that fails if more of it is read than the longest line. */
function endless(head: string, piece: string): Readable {
  const mostRead = 8 * 64 * 1024
  return Readable.from(
    (function* () {
      yield Buffer.from(head)
      for (let read = 0; read < mostRead; read += piece.length * 1024) yield Buffer.from(piece.repeat(1024))
      throw new Error('It goes on reading.')
    })(),
    { objectMode: false },
  )
}

const tooLong = 'The line begins a record of more than 65,536 bytes'
for (const [what, format, head, piece, problem] of [
  ['NDJSON', 'ndjson', '{"name":"kept"}\n{"name":"', 'endless ', 'line 2: The line has more than 65,536 characters'],
  ['CSV', 'csv', 'name\nkept\n', 'endless,', `line 3: ${tooLong}`],
  ['empty cells of CSV', 'csv', 'name\nkept\n', ',', 'line 3: The line has too many cells'],
  ['CSV, the first one', 'csv', '', 'endless,', `line 1: ${tooLong}`],
  [
    'CSV behind an unclosed quote',
    'csv',
    'name\n\n"kept\nboth"\r\n"',
    'a line\r\n',
    `line 5: ${tooLong}, perhaps because a quote is not closed`,
  ],
  ['CSV behind a closed quote', 'csv', 'name\nkept\n"a" b\n', 'a line\n', `line 3: ${tooLong}`],
] as const) {
  t.test(`an endless line of ${what} is read no further than the longest record`, async t => {
    const { code, errors } = await importInto('platform', format, endless(head, piece))
    t.equal(code, 1)
    t.match(errors, `\n  ${problem}`)
    t.match(errors, /; the rest of the file was not read\.\n$/)
    t.equal((await type('platform show kept')).code, 1)
  })
}

for (const lines of [1, 10_000]) {
  t.test(`a quote inside an unquoted cell makes only its own line bad, with ${lines} after it`, async t => {
    const rows = `name\n5" pipe\n${'x'.repeat(300)}\n${'"a ""quoted"" name"\n'.repeat(lines)}`
    const { errors } = await importInto('platform', 'csv', rows)
    t.match(errors, '\n  line 2: The line is not CSV: Invalid Opening Quote')
    t.match(errors, '\n  line 3: ')
    t.notMatch(errors, 'begins a record')
  })
}

t.test('a bad line before an overlong one is named too', async t => {
  const long = 'x'.repeat(70_000)
  for (const [format, rows] of [
    ['csv', `name,name2\nfew\n${long},y\nfew\n`],
    ['ndjson', `{\n{\n{"name":"${long}"}\n{\n`],
  ] as const) {
    const { errors } = await importInto('platform', format, rows)
    t.match(errors, '\n  line 2: ')
    t.match(errors, /line 3: The line (?:has|begins a record of) more than 65,536/)
    t.notMatch(errors, 'line 4')
  }
})

t.test('a record of the maximum length is read, however its bytes arrive', async t => {
  const long = 'é'.repeat(32_000)
  for (const [format, text, line] of [
    ['csv', `name\r"${long}"\r`, 2],
    ['csv', `name\r\n${long}\r\n`, 2],
    ['ndjson', `{"name":"${long}"}\r\n`, 1],
  ] as const) {
    const { errors } = await importInto('platform', format, inPieces(text))
    t.match(errors, ` is invalid.\n  line ${line}: name must have at most 255 characters.\n`)
  }
})

t.test('a CSV whose lines end with bare carriage returns is read', async t => {
  const { output } = await importInto('platform', 'csv', 'name\rfirst\rsecond\r')
  t.match(output, /^Added 2 platforms\b/)
})

t.test('long records are added whole, however few of them fit an INSERT', async t => {
  const lines = Array.from({ length: 4500 }, (_, index) => {
    const url = `https://long.test/${index}/`.padEnd(2000, 'x')
    return `${JSON.stringify({ license_id: '1', name: `Long ${index}`, url })}\n`
  })
  t.match((await importInto('museum', 'ndjson', lines.join(''))).output, /^Added 4,500 museums/)
  t.equal((await json('museum list --name-prefix Long')).length, 4500)
})

t.test('an import may be empty or piped in', async t => {
  for (const name of ['empty.csv', 'empty.ndjson']) {
    t.match(await json(`platform import ${file(name)}`), [{ added: 0, seconds: Number }])
  }
  const { output } = await importInto('platform', 'ndjson', Readable.from(['{"name":"pi', 'ped"}\r\n']))
  t.match(output, /^Added 1 platform\b/)
  t.match(await json('platform show piped'), [{ name: 'piped' }])
})

t.test('an import shows its progress at a terminal', async t => {
  const path = file('shown.ndjson', ...Array.from({ length: 5001 }, (_, index) => ({ name: `Platform ${index}` })))
  const { errors } = await type(`platform import ${path}`, { terminals: ['errors'] })
  t.match(errors, /█+ 100 % {2}5,000 platforms, [\d,]+ a second/)
  t.ok(errors.endsWith(clearLine))
  const piped = await type('platform import - --format ndjson', { terminals: ['errors'], input: '{"name":"unknown"}' })
  t.match(piped.errors, `${clearLine}1 platforms, `)
})

t.test('a file that fails while it is read adds nothing', async t => {
  for (const format of ['csv', 'ndjson']) {
    const broken = new Readable({
      read() {
        this.push('name\nbroken\n')
        this.destroy(new Error('The disk is gone.'))
      },
    })
    await t.rejects(importInto('platform', format, broken), /The disk is gone/)
  }
  t.equal((await type('platform show broken')).code, 1)
})

const skip = serverUrl === undefined && 'TEST_DATABASE_URL names none'
t.test('a connection that breaks during an import is told in one line, and nothing is added', { skip }, async t => {
  const databaseUrl = await createDatabase(t, String(serverUrl))
  const opened = await openDatabase({ databaseUrl, dataDir: 'unused', patient: true })
  const input = Readable.from(
    (async function* () {
      for (let line = 0; line < 6000; line++) yield `{"name":"broken ${line}"}\n`
      // The input is read ahead of the transaction.
      await breakTransactions(opened.db)
      yield '{"name":"last"}\n'
    })(),
  )
  const reason = await commandsOn(opened).refusal('platform import - --format ndjson', { input })
  t.match(reason, /^The database was lost: [^\n]+\.$/)
  t.notMatch(reason, 'not queryable')
})
