import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { run } from '../../../src/command-line/run.ts'
import { type Database, openDatabase } from '../../../src/database/database.ts'
import { seed } from '../../../src/database/migrate.ts'
import { formats } from '../../../src/records/formats.ts'
import { kinds } from '../../../src/records/kinds.ts'
import { build } from '../../support/build.ts'
import { makeFolder } from '../../support/folder.ts'
import { heardOf } from '../../support/heard.ts'
import { addLicense, addUser } from '../../support/records.ts'
import { keptOpen, runCommand } from '../../support/run-command.ts'
import { signIn } from '../../support/sign-in.ts'
import { createDatabase, makeEmbeddedFolder, openTestDatabase, serverUrl } from '../../support/test-database.ts'

const database = await openTestDatabase(t)
await seed(database.db)
const folder = makeFolder(t)

/** Makes a terminal start its line over. */
const clearLine = '\r\u001b[K'

interface Typed {
  input?: Readable
  /** Of a terminal that the output goes to. */
  columns?: number | undefined
  isTerminal?: boolean
}

/** Runs a command in this process on the test's database. Words with blanks need a list. */
async function type(words: string | string[], { input = Readable.from([]), isTerminal = false, columns }: Typed = {}) {
  let output = ''
  let errors = ''
  const code = await run(Array.isArray(words) ? words : words.split(' '), {
    input,
    output: Object.assign(
      new PassThrough().on('data', chunk => {
        output += String(chunk)
      }),
      columns !== undefined && { isTTY: true, columns },
    ),
    errors: Object.assign(
      new PassThrough().on('data', chunk => {
        errors += String(chunk)
      }),
      { isTTY: isTerminal },
    ),
    openDatabase: async () => ({ ...database, close: async () => {} }),
  })
  return { code, output, errors }
}

/** The records that a command prints as JSON. */
async function json(words: string | string[]) {
  const { code, output, errors } = await type([...(Array.isArray(words) ? words : words.split(' ')), '--json'])
  if (code !== 0) throw new Error(errors)
  return output
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))
}

/** A file with these lines. @returns its path */
function file(name: string, ...lines: (string | object)[]): string {
  const path = join(folder, name)
  writeFileSync(path, lines.map(line => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''))
  return path
}

for (const [name, columns, add, known, change, changed] of [
  [
    'license-type',
    ['id', 'type'],
    ['--type', 'long term'],
    'long term',
    ['--type', 'short term'],
    { type: 'short term' },
  ],
  [
    'language',
    ['id', 'code', 'name'],
    ['--code', 'it', '--name', 'Italiano'],
    'it',
    ['--name', 'Lingua italiana'],
    { code: 'it', name: 'Lingua italiana' },
  ],
  ['platform', ['id', 'name'], ['--name', 'kiosk'], 'kiosk', ['--name', 'stand'], { name: 'stand' }],
  [
    'license',
    [
      'id',
      'domain',
      'name',
      'type_id',
      'protected',
      'suspended',
      'valid_from',
      'valid_until',
      'language_ids',
      'platform_ids',
      'created_at',
      'updated_at',
    ],
    ['--domain', 'typed.test', '--name', 'Typed', '--type-id', '1', '--language-ids', '2, 1'],
    'typed.test',
    ['--protected', 'true', '--language-ids', ''],
    { domain: 'typed.test', protected: true, language_ids: [] },
  ],
  [
    'museum',
    ['id', 'license_id', 'name'],
    ['--license-id', '1', '--name', 'Typed'],
    'Typed',
    ['--license-id', '2'],
    { license_id: '2', name: 'Typed' },
  ],
  [
    'group',
    ['id', 'license_id', 'name'],
    ['--license-id', '1', '--name', 'Typists'],
    'Typists',
    ['--name', 'Clerks'],
    { license_id: '1', name: 'Clerks' },
  ],
] as const) {
  t.test(`a ${name} is added, shown, listed, changed and removed`, async t => {
    const [added] = await json([name, 'add', ...add])
    const headings = columns.flatMap(column => (column === 'domain' ? [column, 'state'] : column))
    t.strictSame(Object.keys(added), columns)
    t.strictSame(await json([name, 'show', known]), [added])
    t.strictSame(await json([name, 'show', added.id]), [added])
    t.strictSame(await json([name, 'list', '--sort=-id', '--limit', '1']), [added])
    t.match(
      (await type([name, 'show', added.id])).output,
      new RegExp(headings.map(column => `^${column}( .*)?\n`).join(''), 'm'),
    )
    t.equal((await type([name, 'list'])).output.split('\n')[0]?.trim().replace(/ +/g, ' '), headings.join(' '))
    t.match(await json([name, 'change', known, ...change]), [changed])
    t.match((await type([name, 'change', added.id, ...change])).output, new RegExp(`^id +${added.id}\n`))
    t.match(await type([name, 'remove', added.id]), {
      code: 0,
      output: new RegExp(`^Removed the ${name.replace('-', ' ')} ".+" \\(id \\d+\\)\\.\n$`),
      errors: '',
    })
    t.strictSame(await type([name, 'show', added.id]), {
      code: 1,
      output: '',
      errors: `portico: There is no ${name.replace('-', ' ')} "${added.id}".\n`,
    })
    const [another] = await json([name, 'add', ...add])
    t.strictSame(await json([name, 'remove', known]), [another])
  })
}

t.test('a user is shown, listed and changed', async t => {
  const id = await addUser(database, { email: 'typed@museum.test' })
  t.strictSame(await json('user show typed@museum.test'), [
    { id, email: 'typed@museum.test', admin: false, group_ids: [] },
  ])
  t.match(await json(`user change ${id} --admin true --group-ids 1,2`), [{ admin: true, group_ids: ['1', '2'] }])
  t.match(await json('user list'), [{ id, email: 'typed@museum.test', admin: true }])
  t.match((await type(`user change ${id} --password secret`)).errors, /^portico: Unknown option '--password'/)
})

for (const kind of kinds) {
  const name = kind.name.replace(' ', '-')
  t.test(`the commands for a ${kind.name} show their usage`, async t => {
    const { output } = await type(`${name} --help`)
    for (const command of ['list', 'show', 'add', 'change', 'remove', 'import']) {
      t.match(output, `\n  ${name} ${command} `)
      t.match((await type(`${name} ${command} --help`)).output, `Usage: npm run portico -- ${name} ${command}`)
    }
  })
}

for (const [words, code, errors] of [
  ['license show', 2, '<domain|id> is missing. npm run portico -- license show --help shows how.'],
  ['license add --colour red', 2, /^portico: Unknown option '--colour'/],
  ['license add', 1, 'domain is missing; name is missing; type_id is missing.'],
  [
    'license add --domain A:80 --name x --type-id one --protected maybe',
    1,
    'domain must be a host such as museum.example, in lower case and without a port; type_id must be an id: a whole number from 1 to 9223372036854775807, as text; protected must be true or false.',
  ],
  ['license add --domain a.test --name a --type-id 999', 1, 'type_id names no existing license type.'],
  ['license add --domain a.test --name a --type none', 1, 'There is no license type "none".'],
  ['license change localhost --languages en,xx', 1, 'There is no language "xx".'],
  ['license change localhost --protected maybe', 1, 'protected must be true or false.'],
  ['museum add --name a --license \u001b[2J', 1, 'There is no license " [2J".'],
  ['license change localhost', 2, 'There is nothing to change. npm run portico -- license change --help shows how.'],
  ['license change localhost --type-id 999', 1, 'type_id names no existing license type.'],
  ['license remove nobody.test', 1, 'There is no license "nobody.test".'],
  ['license-type remove demonstration', 1, 'This license type is still in use: licenses refer to it.'],
  ['language add --code en --name English', 1, 'Another language has this code.'],
  ['group show Staff', 1, 'There are several groups "Staff". Use an id such as 1 or 2.'],
  [
    'museum list --limit 0',
    2,
    '--limit must be a whole number of at least 1. npm run portico -- museum list --help shows how.',
  ],
  [
    'museum list --sort colour',
    2,
    '--sort must be one of id, -id, name, -name. npm run portico -- museum list --help shows how.',
  ],
  ['license list --created-at noon', 1, `created_at must be ${formats['date-time'].expects}.`],
  ['museum list --license-id x', 1, 'license_id must be an id: a whole number from 1 to 9223372036854775807, as text.'],
] as const) {
  t.test(`"${words}" is refused with a one-line message`, async t => {
    const result = await type(words)
    t.strictSame([result.code, result.output], [code, ''])
    t.match(result.errors, typeof errors === 'string' ? `portico: ${errors}\n` : errors)
    t.match(result.errors, /^[^\n]+\n$/)
  })
}

t.test('options name records in place of their ids, alike to add and to change', async t => {
  const options = ['--type', 'demonstration', '--languages', 'de, en', '--platform', 'web', '--protected']
  const [added] = await json(['license', 'add', '--domain', 'named.test', '--name', 'Named', ...options])
  t.match(added, { type_id: '1', language_ids: ['2', '1'], platform_ids: ['1'], protected: true })
  t.match(await json('license change named.test --languages fr,3,en --no-protected'), [
    { language_ids: ['3', '1'], protected: false },
  ])
  t.match(await json('license change named.test --language fr --language de --platforms '.split(' ')), [
    { language_ids: ['3', '2'], platform_ids: [] },
  ])
  t.match(await json('license change named.test --protected --name Renamed'), [{ protected: true, name: 'Renamed' }])
  const [museum] = await json('museum add --license named.test --name Named')
  t.equal(museum.license_id, added.id)
  t.match(await json('group add --license named.test --name Names'), [{ license_id: added.id }])
  await type('license remove named.test')
})

t.test('users change their groups by name, if need be with a license', async t => {
  const id = await addUser(database, { email: 'grouped@museum.test' })
  const { errors } = await type(`user change ${id} --group Staff`)
  t.match(errors, /^portico: There are several groups "Staff": 1 of localhost, [^\n]+ Use an id, or --license\.\n$/)
  t.match(await json(`user change ${id} --group Staff --license 127.0.0.1 --admin`), [
    { group_ids: ['2'], admin: true },
  ])
  t.match(await json(`user change ${id} --groups 1,2 --no-admin`), [{ group_ids: ['1', '2'], admin: false }])
  t.match(await type(`user change ${id} --license localhost`), { code: 2, errors: /There is nothing to change/ })
})

for (const [columns, width] of [
  [60, 60],
  [0, 80],
] as const) {
  t.test(`a list fits a terminal of ${width} columns, and is whole elsewhere`, async t => {
    const { output } = await type('license list', { columns })
    t.ok(output.split('\n').every(line => line.length <= width))
    t.notMatch(output, 'updated_at')
    t.match((await type('license list')).output, /updated_at$/m)
  })
}

t.test('a license for a domain that has one already comes with a warning', async t => {
  const words = 'license add --domain twice.test --name Twice --type demonstration'
  const first = await type(words)
  t.equal(first.errors, '')
  const [{ id }] = await json('license show twice.test')
  const second = await type(words)
  t.equal(second.code, 0)
  t.equal(
    second.errors,
    `portico: Warning: twice.test has several licenses, and license ${id} is the one that counts.\n`,
  )
  const [, other] = /^id +(\d+)$/m.exec(second.output) ?? []
  t.match((await type(`license change ${other} --name Changed`)).errors, /^portico: Warning: twice\.test/)
  t.equal((await type(`license change ${other} --domain thrice.test`)).errors, '')
  await type('license remove twice.test')
  await type('license remove thrice.test')
})

t.test('a list is one table of all records, or of as many as requested', async t => {
  const [{ id }] = await json('license add --domain long.test --name Long --type-id 1')
  await type([
    'museum',
    'import',
    file('long.ndjson', ...Array.from({ length: 1100 }, (_, index) => ({ license_id: id, name: `Museum ${index}` }))),
  ])
  const { output } = await type(`museum list --license-id ${id}`)
  t.equal(output.split('\n').length, 1 + 1100 + 1)
  t.equal(output.match(/license_id/g)?.length, 1)
  t.equal((await json(`museum list --license-id ${id} --limit 600`)).length, 600)
  t.equal((await json(`museum list --license-id ${id} --limit 500`)).length, 500)
})

t.test('a list has only the records that all options describe', async t => {
  const id = await addLicense(database, { domain: 'listed.test', protected: true, museums: ['100% Art', '100 Arts'] })
  await addLicense(database, { domain: 'listed-too.test' })
  t.match(await json('license list --domain-prefix LISTED --protected'), [{ domain: 'listed.test' }])
  t.match(await json('license list --domain-prefix listed --no-protected'), [{ domain: 'listed-too.test' }])
  t.match(await json(`license list --id ${id} --protected true`), [{ domain: 'listed.test' }])
  t.match(await json(['museum', 'list', '--license-id', id, '--name-prefix', '100%']), [{ name: '100% Art' }])
  t.match(
    (await type('license list --help')).output,
    /--domain-prefix <prefix> +How the domain begins\. Case is ignored\./,
  )
})

t.test('a list has the records without a value if an option says "none" or nothing', async t => {
  await addLicense(database, { domain: 'endless.test' })
  await addLicense(database, { domain: 'ending.test', type: null, valid_until: new Date('2900-01-01T00:00:00Z') })
  const domains = async (...options: string[]) =>
    (await json(['license', 'list', '--domain-prefix', 'end', ...options])).map(({ domain }) => domain)
  for (const none of ['none', '']) {
    t.strictSame(await domains('--valid-until', none), ['endless.test'])
    t.strictSame(await domains('--type-id', none, '--valid-from', none), ['ending.test'])
  }
  t.match((await type('license list --protected none')).errors, /^portico: protected must be true or false\.\n$/)
  t.match(
    (await type('license list --help')).output,
    /--valid-until <date-time\|none> +When [^\n]+ "none" or nothing finds the records that have none\.\n/,
  )
})

t.test('a list of users has all users', async t => {
  const users = Array.from({ length: 1100 }, (_, index) => ({
    email: `many-${String(index).padStart(4, '0')}@museum.test`,
    password_hash: '',
    admin: false,
  }))
  await database.db.insertInto('users').values(users).execute()
  const { output } = await type('user list')
  t.strictSame(output.match(/^email +admin.*$/gm)?.length, 1, 'with one heading')
  const listed = [...output.matchAll(/^(many-\d+@museum\.test)$/gm)].map(([, email]) => email)
  t.strictSame(
    listed,
    users.map(({ email }) => email),
  )
  await database.db.deleteFrom('users').where('email', 'like', 'many-%').execute()
})

t.test('a flag can be set and cleared, and a missing value is shown empty', async t => {
  await addLicense(database, { domain: 'typeless.test', type: null })
  t.match(await json('license change typeless.test --protected true'), [{ protected: true, type_id: null }])
  t.match((await type('license change typeless.test --protected false')).output, /^type_id\nprotected +false$/m)
})

t.test('a record that the database does not keep is a fault, not a refusal', async t => {
  await sql`create function swallow() returns trigger language plpgsql as 'begin return null; end'`.execute(database.db)
  await sql`create trigger swallow before insert on platforms for each row execute function swallow()`.execute(
    database.db,
  )
  await t.rejects(type('platform add --name swallowed'), /did not return the written record/)
  await sql`drop trigger swallow on platforms`.execute(database.db)
})

for (const [kept, open] of [
  ['shared with a server', async () => ({ ...database, close: async () => {} })],
  ['of its own', openPatiently],
] as const) {
  t.test(
    `on a connection ${kept}, a command that the database refuses says why, and that it changed no records`,
    async t => {
      const opened = await open(t)
      t.teardown(() => opened.close())
      const add = ['platform', 'add', '--name', 'refused']
      for (const code of ['53100', '25006', '57014', 'P0001']) {
        await failAudit(opened, code)
        t.strictSame(await runCommand(add, { openDatabase: keptOpen(opened) }), {
          code: 1,
          output: '',
          errors: 'portico: The database refused the command: it failed. This command changed no records.\n',
        })
        await mendAudit(opened)
      }
      t.match((await runCommand(['platform', 'show', 'refused'], { openDatabase: keptOpen(opened) })).code, 1)
    },
  )

  t.test(`on a connection ${kept}, a command whose transaction met another changed nothing and says so`, async t => {
    const opened = await open(t)
    t.teardown(() => opened.close())
    const add = async () => await runCommand(['platform', 'add', '--name', 'met'], { openDatabase: keptOpen(opened) })
    for (const code of ['40P01', '40001']) {
      await failAudit(opened, code)
      t.strictSame(await add(), {
        code: 1,
        output: '',
        errors: 'portico: Another change was in the way (it failed). This command changed no records: run it again.\n',
      })
      await mendAudit(opened)
      t.equal((await add()).code, 0)
      await runCommand(['platform', 'remove', 'met'], { openDatabase: keptOpen(opened) })
    }
  })
}

t.test('on a connection of its own, a command tells in one line that the database ends', async t => {
  const opened = await openPatiently(t)
  t.teardown(() => opened.close())
  await failAudit(opened, '57P01')
  t.strictSame(await runCommand(['platform', 'add', '--name', 'lost'], { openDatabase: keptOpen(opened) }), {
    code: 1,
    output: '',
    errors: 'portico: The database was lost: it failed.\n',
  })
})

const skip = serverUrl === undefined && 'TEST_DATABASE_URL names none'
t.test('a connection that breaks during an import is told in one line, and nothing is added', { skip }, async t => {
  const opened = await openPatiently(t)
  const input = Readable.from(
    (async function* () {
      for (let line = 0; line < 6000; line++) yield `{"name":"broken ${line}"}\n`
      // The input is read ahead of the transaction.
      while ((await breakTransactions(opened)) === 0);
      yield '{"name":"last"}\n'
    })(),
  )
  const importing = ['platform', 'import', '-', '--format', 'ndjson']
  const { code, errors } = await runCommand(importing, { openDatabase: keptOpen(opened), input })
  t.equal(code, 1)
  t.match(errors, /^portico: The database was lost: [^\n]+\.\n$/)
  t.notMatch(errors, 'not queryable')
})

/** @returns how many connections it broke */
async function breakTransactions({ db }: Database): Promise<number> {
  const { rows } = await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()`.execute(db)
  return rows.length
}

t.test('every command that writes says that it changed no records if the database refuses it', async t => {
  await type('platform add --name steady')
  await addUser(database, { email: 'steady@museum.test' })
  await type('token add steady@museum.test --name steady')
  await failAudit(database, '53100')
  for (const [words, input] of [
    ['platform add --name fresh'],
    ['platform change steady --name other'],
    ['platform remove steady'],
    ['platform import - --format csv', 'name\nfresh\n'],
    ['user add fresh@museum.test', 'a long password'],
    ['user password steady@museum.test', 'another password'],
    ['user password steady@museum.test --link --host localhost'],
    ['token add steady@museum.test --name fresh'],
    ['token revoke steady'],
  ] as const) {
    t.match(await type(words, { input: Readable.from([input ?? '']) }), {
      code: 1,
      errors: /^portico: The database refused the command: it failed\. This command changed no records\.\n$/,
    })
  }
  await mendAudit(database)
  t.equal((await type('platform remove steady')).code, 0)
  t.equal((await type('user remove steady@museum.test')).code, 0)
})

t.test('a command that only reads says no more than why the database refuses it', async t => {
  await sql`alter table platforms rename to stages`.execute(database.db)
  t.strictSame(await type('platform list'), {
    code: 1,
    output: '',
    errors: 'portico: The database refused the command: relation "platforms" does not exist.\n',
  })
  await sql`alter table stages rename to platforms`.execute(database.db)
})

/** Opens a database as commands do. */
async function openPatiently(t: Test) {
  const databaseUrl = serverUrl && (await createDatabase(t, serverUrl))
  return await openDatabase({ databaseUrl, dataDir: makeEmbeddedFolder(t), patient: true })
}

/** Lets each change fail with this code. */
async function failAudit({ db }: Database, code: string): Promise<void> {
  await sql`create function fail() returns trigger language plpgsql
    as ${sql.lit(`begin raise exception 'it failed' using errcode = '${code}'; end`)}`.execute(db)
  await sql`create trigger fail before insert on audit for each row execute function fail()`.execute(db)
}

async function mendAudit({ db }: Database): Promise<void> {
  await sql`drop function fail cascade`.execute(db)
}

t.test('control characters in a table do not reach the terminal', async t => {
  const { id } = await database.db
    .insertInto('platforms')
    .values({ name: 'red \u001b[31m' })
    .returning('id')
    .executeTakeFirstOrThrow()
  t.match((await type(`platform show ${id}`)).output, 'red  [31m')
  await type(`platform remove ${id}`)
})

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
    result = await type(['license', 'import', path])
  })
  t.match(result, { code: 0, output: /^Added 2 licenses in \d+\.\d s, with \d+ MB of memory\.\n$/, errors: '' })
  t.match(await json('license show csv1.test'), [
    { name: 'One, and first', protected: true, language_ids: ['2', '1'], platform_ids: [] },
  ])
  t.match(await json('license show csv2.test'), [{ protected: false, language_ids: [] }])
  t.equal(
    (await app.inject({ url: '/', headers: { host: 'csv2.test', accept: 'application/json' } })).json().license.name,
    'Two',
  )
})

t.test('an import with --update changes the records it knows, and keeps the fields that a line leaves out', async t => {
  await type('license add --domain known.test --name Old --type demonstration --languages en,de --protected'.split(' '))
  const path = file(
    'update.ndjson',
    { domain: 'known.test', name: 'New', type_id: '1', language_ids: ['3'] },
    { domain: 'added.test', name: 'First', type_id: '1', protected: true },
    { domain: 'added.test', name: 'Last', type_id: '1' },
  )
  const before = await json('license list')
  t.match(await type(['license', 'import', path, '--update', '--dry-run']), {
    code: 0,
    output: /^Nothing was changed\. Without --dry-run: added 1 and changed 2 licenses in /,
  })
  t.match(await json(['license', 'import', path, '--dry-run']), [{ added: 3, isDryRun: true }])
  t.strictSame(await json('license list'), before)
  t.match((await type(['license', 'import', path, '--update'])).output, /^Added 1 and changed 2 licenses in /)
  t.match(await json('license show known.test'), [{ name: 'New', protected: true, language_ids: ['3'] }])
  t.match(await json('license show added.test'), [{ name: 'Last', protected: true }])
  t.match(await json(['license', 'import', path, '--update']), [{ added: 0, changed: 3 }])
  for (const domain of ['known.test', 'added.test']) await type(`license remove ${domain}`)
})

t.test('an import with --update finds users whatever the case, and leaves an admin', async t => {
  const { db } = database
  const admins = await db.updateTable('users').set({ admin: false }).where('admin', '=', true).returning('id').execute()
  await addUser(database, { email: 'Upper@museum.test', admin: true })
  const lines = [{ email: 'uPPER@museum.test', password: 'four doors and an arch' }]
  const update = (line: object) => type(['user', 'import', file('upper.ndjson', line), '--update'])
  t.match(await update({ ...lines[0], admin: true }), { code: 0, output: /^Added 0 and changed 1 users/ })
  t.match(await update({ ...lines[0], admin: false }), { code: 1, errors: /line 1: This user is the only admin\./ })
  await type('user change upper@museum.test --email upper@museum.test')
  for (const { id } of admins) await db.updateTable('users').set({ admin: true }).where('id', '=', id).execute()
  await type('user remove upper@museum.test')
})

t.test('a fault of the database during --update is no bad line', async t => {
  await sql`create function fail() returns trigger language plpgsql as 'begin raise exception ''broken''; end'`.execute(
    database.db,
  )
  await sql`create trigger fail before update on platforms for each row execute function fail()`.execute(database.db)
  t.match(await type(['platform', 'import', file('fault.ndjson', { name: 'web' }), '--update']), {
    code: 1,
    errors: /^portico: The database refused the command: broken\. This command changed no records\.\n$/,
  })
  await sql`drop trigger fail on platforms`.execute(database.db)
})

t.test('a dry run names the bad lines', async t => {
  const path = file('dry.ndjson', { name: 'web' }, { nam: 'x' })
  t.match(await type(['platform', 'import', path, '--dry-run']), { code: 1, errors: /2 lines of .* are invalid/ })
})

t.test('museums and groups cannot be updated by an import, because their names are not unique', async t => {
  for (const kind of ['museum', 'group']) {
    t.match(await type(`${kind} import - --format csv --update`), { code: 2, errors: /Unknown option '--update'/ })
  }
})

t.test('imported users can sign in', async t => {
  const path = file(
    'users.ndjson',
    { email: 'one@museum.test', password: 'four doors and an arch', group_ids: ['1'] },
    { email: 'two@museum.test', password: 'five doors and no arch', admin: true },
  )
  t.equal((await type(['user', 'import', path])).code, 0)
  const app = await build(t, { database })
  await signIn(app, { host: 'localhost', email: 'two@museum.test', password: 'five doors and no arch' })
  t.match(await json('user show one@museum.test'), [{ admin: false, group_ids: ['1'] }])
})

t.test('an import with bad lines names each of them and adds nothing', async t => {
  const before = await json('license list')
  const path = file(
    'bad.ndjson',
    { domain: 'bad1.test', name: 'Good', type_id: '1' },
    '',
    { domain: 'bad2.test', name: 'Unknown type', type_id: '77' },
    '{"domain":"bad3.test"',
    { domain: 'BAD', name: ' ', type_id: 1, colour: 'red' },
    ['bad'],
    { domain: 'bad4.test', name: 'Unknown languages', type_id: '1', language_ids: ['1', '98', '99'] },
    '{"domain":"bad5.test","name":"P","type_id":"1","__proto__":{"protected":true}}',
  )
  const { code, output, errors } = await type(['license', 'import', path])
  t.strictSame([code, output], [1, ''])
  t.equal(
    errors,
    `portico: Nothing was added: 6 lines of ${path} are invalid.
  line 3: type_id names no existing license type: 77.
  line 4: The line is not JSON.
  line 5: "colour" is not a known field; domain must be a host such as museum.example, in lower case and without a port; name must be one line of UTF-8 text without leading or trailing spaces; type_id must be an id: a whole number from 1 to 9223372036854775807, as text.
  line 6: The value must be a JSON object.
  line 7: language_ids names no existing language: 98, 99.
  line 8: "__proto__" is not a known field.
`,
  )
  t.strictSame(await json('license list'), before)
})

t.test('an import of malformed CSV names each bad line and adds nothing', async t => {
  const path = file('bad.csv', 'code,name', 'pt,Português', 'too,many,cells', 'few', '"never,closed')
  const { errors } = await type(['language', 'import', path])
  t.match(errors, /4 lines|3 lines/)
  for (const line of [3, 4, 5]) t.match(errors, new RegExp(`\n {2}line ${line}: The line is not CSV: `))
})

t.test('CSV lines are counted as an editor counts them, whatever ends them', async t => {
  for (const end of ['\n', '\r\n']) {
    const path = file(
      'quoted.csv',
      ['code,name', 'it,"Ita', 'liano"', 'few', '"nl",Nederlands', 'XX,Wrong', ''].join(end),
    )
    const { errors } = await type(['language', 'import', path])
    for (const line of [3, 4, 6]) t.match(errors, `\n  line ${line}: `)
    t.notMatch(errors, /line [57]/)
  }
  const split = await type('language import - --format csv', {
    input: Readable.from([Buffer.from('code,name\r'), Buffer.from('\nit,Italiano\r\nXX,Wrong\r')]),
  })
  t.match(split.errors, ' is invalid.\n  line 3: ')
})

t.test('only a line feed ends a line of NDJSON', async t => {
  const { errors } = await type('language import - --format ndjson', {
    input: Readable.from(['{"code":"it","name":"a\u2028b"}\r\n{"code":"nl",\r"name":"Nederlands"}\n{}']),
  })
  t.match(
    errors,
    / 2 lines of .* are invalid\.\n {2}line 1: name must be one line of UTF-8 text [^\n]*\n {2}line 3: code is missing/,
  )
})

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

for (const [what, format, head, piece, problem] of [
  [
    'an endless line of NDJSON',
    'ndjson',
    '{"name":"kept"}\n{"name":"',
    'endless ',
    'line 2: The line has more than 65,536 characters',
  ],
  [
    'an endless line of CSV',
    'csv',
    'name\nkept\n',
    'endless,',
    'line 3: The line begins a record of more than 65,536 bytes',
  ],
  ['an endless first line of CSV', 'csv', '', 'endless,', 'line 1: The line begins a record of more than 65,536 bytes'],
  [
    'a CSV with an unclosed quote',
    'csv',
    'name\n\n"kept\r\nboth"\r\n"',
    'a line\r\n',
    'line 5: The line begins a record of more than 65,536 bytes, perhaps because a quote is not closed',
  ],
] as const) {
  t.test(`${what} is read no further than the longest record`, async t => {
    const { code, errors } = await type(`platform import - --format ${format}`, { input: endless(head, piece) })
    t.equal(code, 1)
    t.match(errors, `\n  ${problem}`)
    t.match(errors, /; the rest of the file was not read\.\n$/)
    t.equal((await type('platform show kept')).code, 1)
  })
}

for (const lines of [1, 10_000]) {
  t.test(`a quote inside an unquoted cell makes only its own line bad, with ${lines} after it`, async t => {
    const rows = `name\n5" pipe\n${'x'.repeat(300)}\n${'"a ""quoted"" name"\n'.repeat(lines)}`
    const { errors } = await type('platform import - --format csv', { input: Readable.from([Buffer.from(rows)]) })
    t.match(errors, '\n  line 2: The line is not CSV: Invalid Opening Quote')
    t.match(errors, '\n  line 3: ')
    t.notMatch(errors, 'begins a record')
  })
}

t.test('a quoted cell followed by text is malformed, and buffered no further than the longest record', async t => {
  const { errors } = await type('platform import - --format csv', { input: endless('name\n"a" b\n', 'a line\n') })
  t.match(errors, '\n  line 2: The line begins a record of more than 65,536 bytes')
})

t.test('a bad line before an overlong one is named too', async t => {
  const long = 'x'.repeat(70_000)
  for (const [format, rows] of [
    ['csv', `name,name2\nfew\n${long},y\nfew\n`],
    ['ndjson', `{\n{\n{"name":"${long}"}\n{\n`],
  ] as const) {
    const { errors } = await type(`platform import - --format ${format}`, { input: Readable.from([Buffer.from(rows)]) })
    t.match(errors, '\n  line 2: ')
    t.match(errors, /line 3: The line (?:has|begins a record of) more than 65,536/)
    t.notMatch(errors, 'line 4')
  }
})

t.test('a record of the maximum length is read, however its bytes arrive', async t => {
  const long = 'é'.repeat(32_000)
  for (const [format, text] of [
    ['csv', `name\r"${long}"\r`],
    ['csv', `name\r\n${long}\r\n`],
    ['ndjson', `{"name":"${long}"}\r\n`],
  ] as const) {
    const bytes = Buffer.from(text)
    const pieces = Array.from({ length: Math.ceil(bytes.length / 101) }, (_, index) =>
      bytes.subarray(index * 101, index * 101 + 101),
    )
    const { errors } = await type(`platform import - --format ${format}`, {
      input: Readable.from(pieces, { objectMode: false }),
    })
    t.match(errors, ` is invalid.\n  line ${format === 'csv' ? 2 : 1}: name must have at most 255 characters.\n`)
  }
})

t.test('a CSV whose lines end with bare carriage returns is read', async t => {
  const { output } = await type('platform import - --format csv', {
    input: Readable.from([Buffer.from('name\rfirst\r'), Buffer.from('second\r')]),
  })
  t.match(output, /^Added 2 platforms /)
})

t.test('a CSV that names a field twice is refused', async t => {
  t.match(
    (await type(['language', 'import', file('columns.csv', 'code,name,name', 'it,Italiano,Lingua')])).errors,
    ' is invalid.\n  line 1: The line names "name" twice.\n',
  )
})

t.test('a line that repeats an existing record or another line is bad', async t => {
  const path = file('twice.csv', 'code,name', 'en,English', 'sv,Svenska', 'sv,Svenska')
  const { errors } = await type(['language', 'import', path])
  t.equal(
    errors,
    `portico: Nothing was added: 2 lines of ${path} are invalid.
  line 2: Another language has this code.
  line 4: Another language has this code.
`,
  )
})

t.test('some of very many bad lines are named, and the rest counted', async t => {
  const { errors } = await type(['platform', 'import', file('many.ndjson', ...Array.from({ length: 60 }, () => '{}'))])
  t.equal(errors.split('\n').length, 1 + 50 + 2)
  t.match(errors, /: 60 lines of .* are invalid\.\n {2}line 1: name is missing\.\n/)
  t.match(errors, '\n  and 10 more.\n')
  t.match(
    (await type(['platform', 'import', file('one.ndjson', '{}')])).errors,
    ' is invalid.\n  line 1: name is missing.\n',
  )
})

t.test('an import may be empty or piped in', async t => {
  t.match((await type(['platform', 'import', file('empty.csv')])).output, /^Added 0 platforms /)
  t.match((await type(['platform', 'import', file('empty.ndjson')])).output, /^Added 0 platforms /)
  t.match(
    (await type('platform import - --format ndjson', { input: Readable.from(['{"name":"pi', 'ped"}\r\n']) })).output,
    /^Added 1 platforms /,
  )
  t.match(await json('platform show piped'), [{ name: 'piped' }])
  t.match(await json(['platform', 'import', file('empty.ndjson')]), [{ added: 0, seconds: Number, memory: Number }])
})

t.test('an import shows its progress at a terminal', async t => {
  const path = file('shown.ndjson', ...Array.from({ length: 5001 }, (_, index) => ({ name: `Platform ${index}` })))
  const { errors } = await type(['platform', 'import', path], { isTerminal: true })
  t.match(errors, /█+ 100 % {2}5,000 platforms, [\d,]+ a second/)
  t.ok(errors.endsWith(clearLine))
  const piped = await type('platform import - --format ndjson', {
    isTerminal: true,
    input: Readable.from(['{"name":"unknown size"}']),
  })
  t.match(piped.errors, `${clearLine}1 platforms, `)
})

for (const [words, code, errors] of [
  ['platform import', 2, '<file> is missing.'],
  ['platform import records.xml', 2, '--format must be ndjson or csv.'],
  ['platform import - ', 2, '--format must be ndjson or csv.'],
  ['platform import /none/such.csv', 1, /^portico: \/none\/such\.csv cannot be read: ENOENT/],
  [`platform import ${folder} --format csv`, 1, /cannot be read: EISDIR/],
] as const) {
  t.test(`"${words.replace(folder, 'a folder')}" is refused in one line`, async t => {
    const result = await type(words.split(' ').filter(word => word !== ''))
    t.equal(result.code, code)
    t.match(result.errors, errors)
    t.match(result.errors, /^[^\n]+\n$/)
  })
}

t.test('a file that fails while it is read adds nothing', async t => {
  const broken = () =>
    new Readable({
      read() {
        this.push('name\nbroken\n')
        this.destroy(new Error('The disk is gone.'))
      },
    })
  for (const format of ['csv', 'ndjson']) {
    await t.rejects(type(`platform import - --format ${format}`, { input: broken() }), /The disk is gone/)
  }
  t.equal((await type('platform show broken')).code, 1)
})

t.test('"migrate" lists when each migration was applied, and "seed" adds nothing twice', async t => {
  const { output } = await type('migrate')
  t.match(output, /^0001-records +\d{4}-\d\d-\d\dT[\d:.]+Z\n0002-/)
  t.match((await json('migrate'))[0], { name: '0001-records', timestamp: /^\d{4}-/ })
  const before = await json('license list')
  t.strictSame(await type('seed'), {
    code: 0,
    output: 'The database has had the demonstration records before. Nothing was added.\n',
    errors: '',
  })
  t.strictSame(await json('seed'), [{ seeded: true, added: {} }])
  t.strictSame(await json('license list'), before)
})

t.test('"routes" lists the routes without a database', async t => {
  let output = ''
  const code = await run(['routes'], {
    input: Readable.from([]),
    output: new PassThrough().on('data', chunk => {
      output += String(chunk)
    }),
    errors: new PassThrough(),
    openDatabase: async () => {
      throw new Error('This needs none.')
    },
  })
  t.equal(code, 0)
  t.match(output, /^GET +\/$/m)
  t.match(output, /^PATCH +\/api\/licenses\/:id\(\.\+\)$/m)
})

t.test('a command says in one line that another process has the embedded database open', async t => {
  const dataDir = makeEmbeddedFolder(t)
  const owner = await openDatabase({ databaseUrl: undefined, dataDir })
  t.teardown(() => owner.close())
  let errors = ''
  const code = await run(['license', 'list'], {
    input: Readable.from([]),
    output: new PassThrough(),
    errors: new PassThrough().on('data', chunk => {
      errors += String(chunk)
    }),
    openDatabase: () => openDatabase({ databaseUrl: undefined, dataDir }),
  })
  t.equal(code, 1)
  t.match(errors, /^portico: DATA_DIR .* cannot be locked: another process has it open\.\n$/)
})
