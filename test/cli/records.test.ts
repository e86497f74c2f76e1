import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { seed } from '../../src/database/migrate.ts'
import { breakTable } from '../support/broken-database.ts'
import { addLicense, addUser, openTestDatabase } from '../support/site.ts'
import { commandsOn } from '../support/run-command.ts'
import { createDatabase, makeEmbeddedFolder, serverUrl } from '../support/test-database.ts'

const database = await openTestDatabase(t)
const { db } = database
await seed(db)
await addUser(database, { email: 'admin@museum.test', admin: true })
const { type, json, print, refusal } = commandsOn(database)

const licenseColumns =
  'id domain state name type_id protected suspended valid_from valid_until language_ids platform_ids created_at updated_at'

for (const [name, columns, add, known, change, changed] of [
  ['license-type', 'id type', '--type "long term"', '"long term"', '--type short', { type: 'short' }],
  ['language', 'id code name', '--code it --name Italiano', 'it', '--name Lingua', { code: 'it', name: 'Lingua' }],
  ['platform', 'id name', '--name kiosk', 'kiosk', '--name stand', { name: 'stand' }],
  [
    'license',
    licenseColumns,
    '--domain typed.test --name Typed --type-id 1 --language-ids "2, 1"',
    'typed.test',
    '--protected true --language-ids ""',
    { domain: 'typed.test', protected: true, language_ids: [] },
  ],
  [
    'museum',
    'id license_id name url',
    '--license-id 1 --name Typed --url https://typed.example/',
    'Typed',
    '--license-id 2 --url none',
    { license_id: '2', url: null },
  ],
  ['group', 'id license_id name', '--license-id 1 --name Typists', 'Typists', '--name Clerks', { name: 'Clerks' }],
] as const) {
  t.test(`a ${name} is added, shown, listed, changed and removed`, async t => {
    const [added] = await json(`${name} add ${add}`)
    t.strictSame(Object.keys(added), columns.replace('state ', '').split(' '))
    t.strictSame(await json(`${name} show ${known}`), [added])
    t.strictSame(await json(`${name} show ${added.id}`), [added])
    t.strictSame(await json(`${name} list --sort=-id --limit 1`), [added])
    t.match(await print(`${name} show ${added.id}`), new RegExp(columns.replaceAll(/(\w+) ?/g, '^$1(?: .*)?\n'), 'm'))
    t.equal((await print(`${name} list`)).split('\n')[0]?.trim().replace(/ +/g, ' '), columns)
    t.match(await json(`${name} change ${known} ${change}`), [changed])
    t.match(await print(`${name} change ${added.id} ${change}`), new RegExp(`^id +${added.id}\n`))
    const singular = name.replace('-', ' ')
    t.match(await print(`${name} remove ${added.id}`), new RegExp(`^Removed the ${singular} ".+" \\(id \\d+\\)\\.\n$`))
    t.equal(await refusal(`${name} show ${added.id}`), `There is no ${singular} "${added.id}".`)
    const [another] = await json(`${name} add ${add}`)
    t.strictSame(await json(`${name} remove ${known}`), [another])
  })
}

t.test('options name records in place of their ids, alike to add and to change', async t => {
  const [added] = await json(
    'license add --domain named.test --name Named --type demonstration --languages "de, en" --platform web --protected',
  )
  t.match(added, { type_id: '1', language_ids: ['2', '1'], platform_ids: ['1'], protected: true })
  for (const [options, changed] of [
    ['--languages fr,3,en --no-protected', { language_ids: ['3', '1'], protected: false }],
    ['--language fr --language de --platforms ""', { language_ids: ['3', '2'], platform_ids: [] }],
    ['--protected --name Renamed', { protected: true, name: 'Renamed' }],
    ['--protected false', { protected: false }],
  ] as const) {
    t.match(await json(`license change named.test ${options}`), [changed])
  }
  t.match(await json('museum add --license named.test --name Named'), [{ license_id: added.id }])
  t.match(await json('group add --license named.test --name Names'), [{ license_id: added.id }])
  await print('license remove named.test')
})

t.test('users change their groups by name, if need be with a license', async t => {
  const id = await addUser(database, { email: 'grouped@museum.test' })
  const user = { id, email: 'grouped@museum.test', admin: false, group_ids: [] as string[] }
  t.strictSame(await json('user show GROUPED@museum.test'), [user])
  const [first] = await json(`user change ${id} --group Staff --license 127.0.0.1 --admin`)
  t.strictSame(first, { ...user, group_ids: ['2'], admin: true })
  const [second] = await json('user change grouped@museum.test --groups 1,2 --no-admin')
  t.strictSame(second, { ...user, group_ids: ['1', '2'] })
  await print(`user remove ${id}`)
})

t.test('a list says whether each site is open, and JSON has the fields instead', async t => {
  const states = {
    open: '--valid-from 2001-01-01T00:00:00Z --valid-until 2900-01-01T00:00:00Z',
    asleep: '--valid-from 2900-01-01T00:00:00Z',
    suspended: '--suspended',
    ended: '--valid-until 2001-01-01T00:00:00Z',
  }
  for (const [state, options] of Object.entries(states)) {
    await print(`license add --domain state-${state}.test --name Museum --type demonstration ${options}`)
  }
  const rows = (await print('license list --domain-prefix state- --sort id')).trimEnd().split('\n').slice(1)
  t.strictSame(
    rows.map(row => row.split(/ +/).slice(1, 3)),
    Object.keys(states).map(state => [`state-${state}.test`, state]),
  )
  t.match(await print('license show state-asleep.test'), /^state +asleep\n[^]*^valid_from +2900-01-01T00:00:00\.000Z$/m)
  t.match(await print('license change state-ended.test --valid-until none'), /^state +open$/m)
  t.notHas((await json('license show state-suspended.test'))[0], 'state')
  for (const state of Object.keys(states)) await print(`license remove state-${state}.test`)
})

t.test('a list fits the terminal, with as many columns as there is room for, and is whole elsewhere', async t => {
  const [domain, name] = ['d'.repeat(255), 'n'.repeat(255)]
  await addLicense(database, { domain, name, type: null })
  const list = async (columns: number) =>
    (await print('license list --sort=-id --limit 2', { terminals: ['output'], columns })).trimEnd().split('\n')
  for (const columns of [40, 60, 80, 120]) {
    const lines = await list(columns)
    const wide = lines.filter(({ length }) => length > columns)
    t.strictSame(wide, [], `at ${columns} columns`)
    t.match(lines, [/^id +domain +state/, /^\d+ +d+… +open/])
    t.notMatch(lines[0], 'updated_at')
  }
  t.strictSame(await list(0), await list(80), 'a terminal that does not tell its width has 80 columns')
  t.match((await list(1)).join('\n'), /^id {2}domain {4}state\n\d+ +d{7}… {2}open\n/)
  const whole = await print('license list --sort=-id --limit 2')
  t.match(whole, /^id .* updated_at\n/)
  t.match(whole, new RegExp(` ${domain} .* ${name} `))
  await print(`license remove ${domain}`)
})

t.test('a license for a domain that has one already comes with a warning', async t => {
  const add = 'license add --domain twice.test --name Twice --type demonstration'
  const [{ id }] = await json(add)
  const { code, output, errors } = await type(add)
  t.equal(code, 0)
  t.equal(errors, `portico: Warning: twice.test has several licenses, and license ${id} is the one that counts.\n`)
  const [, other] = /^id +(\d+)$/m.exec(output) ?? []
  t.match((await type(`license change ${other} --name Changed`)).errors, /^portico: Warning: twice\.test/)
  t.equal((await type(`license change ${other} --domain thrice.test`)).errors, '')
  await print('license remove twice.test')
  await print('license remove thrice.test')
})

t.test('a list is one table of all records, or of as many as requested', async t => {
  await sql`insert into museums (license_id, name) select 3, 'Museum ' || n from generate_series(1, 1100) n`.execute(db)
  const rows = (await print('museum list --license-id 3')).trimEnd().split('\n')
  t.equal(rows.filter(row => / license_id /.test(row)).length, 1)
  t.equal(rows.length, 1 + 1 + 1100)
  for (const limit of [500, 600]) t.equal((await json(`museum list --license-id 3 --limit ${limit}`)).length, limit)
  await sql`delete from museums where name like 'Museum 1%' or license_id = 3 and name <> 'The Depot'`.execute(db)
})

t.test('a list has only the records that all options describe', async t => {
  const id = await addLicense(database, { domain: 'listed.test', protected: true, museums: ['100% Art', '100 Arts'] })
  await addLicense(database, { domain: 'listed-too.test' })
  t.match(await json('license list --domain-prefix LISTED --protected'), [{ domain: 'listed.test' }])
  t.match(await json('license list --domain-prefix listed --no-protected'), [{ domain: 'listed-too.test' }])
  t.match(await json(`license list --id ${id} --protected true`), [{ domain: 'listed.test' }])
  t.match(await json(`museum list --license-id ${id} --name-prefix 100%`), [{ name: '100% Art' }])
  t.match(
    await print('license list --help'),
    /--domain-prefix <prefix> +How the domain begins\. Case is ignored\.\n[^]*--valid-until <date-time\|none> +When [^\n]+ "none" or nothing finds the records that have none\.\n/,
  )
})

t.test('control characters in a table do not reach the terminal', async t => {
  await db.insertInto('platforms').values({ name: 'red \u001b[31m' }).execute()
  t.match(await print('platform list --name-prefix red'), 'red  [31m')
})

/** Opens a database as commands do. */
async function openPatiently(t: Test): Promise<Database> {
  const databaseUrl = serverUrl && (await createDatabase(t, serverUrl))
  const opened = await openDatabase({ databaseUrl, dataDir: makeEmbeddedFolder(t), patient: true })
  t.teardown(() => opened.close())
  return opened
}

const refused = 'The database refused the command: it failed. This command changed no records.'
const met = 'Another change was in the way (it failed). This command changed no records: run it again.'
const failures = { 53100: refused, 25006: refused, 57014: refused, P0001: refused, '40P01': met, 40001: met }

for (const [kept, open] of [
  ['shared with a server', async () => database],
  ['of its own', openPatiently],
] as const) {
  t.test(`on a connection ${kept}, a command that the database refuses says why, and changes nothing`, async t => {
    const opened = await open(t)
    const { print, refusal } = commandsOn(opened)
    for (const [code, message] of Object.entries(failures)) {
      const mend = await breakTable(opened, 'audit', code)
      t.equal(await refusal('platform add --name met'), message)
      await mend()
      await print('platform add --name met')
      await print('platform remove met')
    }
  })
}

t.test('on a connection of its own, a command tells in one line that the database ends', async t => {
  const opened = await openPatiently(t)
  await breakTable(opened, 'audit', '57P01')
  t.equal(await commandsOn(opened).refusal('platform add --name lost'), 'The database was lost: it failed.')
})

t.test('every command that writes says that it changed no records if the database refuses it', async t => {
  await print('platform add --name steady')
  await addUser(database, { email: 'steady@museum.test' })
  await print('token add --user steady@museum.test --name steady')
  const mend = await breakTable(database, 'audit', '53100')
  for (const [words, input] of [
    ['platform add --name fresh'],
    ['platform change steady --name other'],
    ['platform remove steady'],
    ['platform import - --format csv', 'name\nfresh\n'],
    ['user add fresh@museum.test', 'a long password'],
    ['user password steady@museum.test', 'another password'],
    ['user password steady@museum.test --link --host localhost'],
    ['token add --user steady@museum.test --name fresh'],
    ['token revoke steady'],
  ] as const) {
    t.equal(await refusal(words, { input: input ?? '' }), refused)
  }
  await mend()
  await print('platform remove steady')
  await print('user remove steady@museum.test')
})

t.test('a command that only reads says no more than why the database refuses it', async t => {
  await sql`alter table platforms rename to stages`.execute(db)
  t.equal(await refusal('platform list'), 'The database refused the command: relation "platforms" does not exist.')
  await sql`alter table stages rename to platforms`.execute(db)
})

t.test('an unexpected failure is not reported as a refusal or a mistyped command', async t => {
  const openDatabase = () => Promise.reject(new Error('Broken'))
  for (const words of ['user list', 'export']) {
    await t.rejects(type(words, { openDatabase }), { message: 'Broken' })
  }
})

t.test('"migrate" lists when each migration was applied, and "seed" adds nothing twice', async t => {
  t.match(await print('migrate'), /^0001-records +\d{4}-\d\d-\d\dT[\d:.]+Z\n0002-/)
  t.match((await json('migrate'))[0], { name: '0001-records', timestamp: /^\d{4}-/ })
  const before = await json('license list')
  t.equal(await print('seed'), 'The database has had the demonstration records before. Nothing was added.\n')
  t.strictSame(await json('seed'), [{ seeded: true, added: {} }])
  t.strictSame(await json('license list'), before)
})

t.test('"routes" lists the routes without a database', async t => {
  const openDatabase = () => Promise.reject(new Error('This needs none.'))
  const { code, output } = await type('routes', { openDatabase })
  t.equal(code, 0)
  t.match(output, /^GET +\/$/m)
  t.match(output, /^PATCH +\/api\/licenses\/:id\(\.\+\)$/m)
})

t.test('a command says in one line that another process has the embedded database open', async t => {
  const dataDir = makeEmbeddedFolder(t)
  const owner = await openDatabase({ databaseUrl: undefined, dataDir })
  t.teardown(() => owner.close())
  const openAgain = () => openDatabase({ databaseUrl: undefined, dataDir })
  const reason = await refusal('license list', { openDatabase: openAgain })
  t.equal(reason, `DATA_DIR ${dataDir} cannot be locked: another process has it open.`)
})
