import { sql } from 'kysely'
import t from 'tap'
import { systemUserOf } from '../../cli/terminal.ts'
import { contentOf, emptyingTest, exportLines, removeRecords } from '../support/backup-records.ts'
import { addLicense, addUser, openTestDatabase } from '../support/site.ts'
import { commandsOn } from '../support/run-command.ts'

const database = await openTestDatabase(t)
const { db } = database
await removeRecords(database)
const { type, json, print, refusal } = commandsOn(database, { systemUser: 'keeper' })
const test = emptyingTest(t, database)

const lines = async (options = '') => await json(`audit ${options}`)

/** Imports languages. */
async function importLanguages(records: readonly object[], options = '') {
  const input = records.map(record => `${JSON.stringify(record)}\n`).join('')
  return await type(`language import - --format ndjson ${options}`, { input })
}

/** Writes lines as if they had been there for long. */
async function addLines(...records: object[]): Promise<void> {
  await sql`
    insert into audit (at, user_id, actor, via, "table", record_id, action, before, after)
    select coalesce(at, '2026-01-31T12:00:00Z'), user_id, actor, coalesce(via, 'command'), coalesce("table", 'museums'),
      coalesce(record_id, 7), action, before, after
    from json_populate_recordset(null::audit, ${JSON.stringify(records)}::json)`.execute(db)
}

test('a command leaves a line with the name of who ran it', async t => {
  await print('platform add --name kiosk')
  const [{ id, at, ...line }] = await lines()
  t.match([id, at], ['1', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/])
  t.strictSame(line, {
    user_id: null,
    token_id: null,
    actor: 'keeper',
    via: 'command',
    table: 'platforms',
    record_id: '1',
    action: 'add',
    before: null,
    after: { id: '1', name: 'kiosk' },
  })
  await commandsOn(database).print('platform remove kiosk')
  t.match(await lines('--limit 1'), [{ action: 'remove', actor: null, before: { name: 'kiosk' }, after: null }])
})

test('the commands that add, change and remove leave a line each, and without a secret', async t => {
  await print('user add me@museum.test', { input: 'four doors and an arch' })
  await print('user change me@museum.test --admin')
  await print('user password me@museum.test', { input: 'five doors and an arch' })
  await addUser(database, { email: 'other@museum.test', admin: true })
  await print('user remove me@museum.test')
  t.match(await lines(), [
    { action: 'remove', before: { email: 'me@museum.test', admin: true } },
    { action: 'change', before: { admin: true }, after: { admin: true, password: '(new)' } },
    { action: 'change', before: { admin: false }, after: { admin: true } },
    { action: 'add', after: { email: 'me@museum.test', admin: false, group_ids: [] } },
  ])
  t.notMatch(await exportLines(database).then(lines => lines.filter(line => line.includes('"audit"')).join()), /argon2/)
})

test('a token that is added or revoked leaves a line with its owner, and without its hash', async t => {
  const user = await addUser(database, { email: 'me@museum.test' })
  await print('token add --user me@museum.test --name ci --read-only --expires-at 2099-12-31T00:00:00Z')
  await sql`update api_tokens set last_used_at = '2026-11-23 17:00Z'`.execute(db)
  await print('token revoke ci')
  const [removed, added, ...others] = await lines('--table api_tokens')
  t.strictSame(others, [])
  const token = {
    id: '1',
    name: 'ci',
    user: 'me@museum.test',
    user_id: user,
    read_only: true,
    expires_at: '2099-12-31T00:00:00.000Z',
    last_used_at: null,
    created_at: added.at,
  }
  t.strictSame([added.actor, added.record_id, added.action, added.after], ['keeper', '1', 'add', token])
  t.strictSame([removed.actor, removed.record_id, removed.action], ['keeper', '1', 'remove'])
  t.strictSame(removed.before, { ...token, last_used_at: '2026-11-23T17:00:00.000Z' })
})

test('a table that no record has is refused with those that there are', async t => {
  const tables = 'license_types, languages, platforms, licenses, museums, groups, users, api_tokens, password_resets'
  t.equal(await refusal('audit --table nonsense'), `table must be one of ${tables}.`)
})

test('the help has the words of a field that has few', async t => {
  const help = await print('audit --help')
  t.match(help, /--via <string> .* One of api, command\.\n/)
  t.match(help, /--action <string> .* One of add, change, remove\.\n/)
})

test('a token that is refused, or revoked twice at once, leaves no further line', async t => {
  await addUser(database, { email: 'me@museum.test' })
  await print('token add --user me@museum.test --name ci')
  t.equal((await type('token add --user me@museum.test --name ci')).code, 1)
  await Promise.all(['ci', 'ci', '1'].map(token => type(`token revoke ${token}`)))
  const written = await lines()
  t.match(written, [{ action: 'remove' }, { action: 'add' }])
  t.equal(written.length, 2)
})

test('a link to choose a password leaves a line with its user, and without its token or hash', async t => {
  const user = await addUser(database, { email: 'me@museum.test' })
  await addLicense(database, { domain: 'museum.test' })
  for (let n = 0; n < 2; n++) await print('user password me@museum.test --link')
  const written = await lines()
  t.equal(written.length, 2, 'a link that replaces another has a line, too')
  const { at, after, ...line } = written[0]
  t.match(line, { via: 'command', actor: 'keeper', table: 'password_resets', record_id: user, action: 'add' })
  const anHourLater = new Date(Date.parse(at) + 60 * 60 * 1000).toISOString()
  t.strictSame(after, { user: 'me@museum.test', user_id: user, expires_at: anHourLater })
})

test('a token or a link whose line cannot be written is not made, and a token is not revoked', async t => {
  const user = await addUser(database, { email: 'me@museum.test' })
  await addLicense(database, { domain: 'museum.test' })
  await print('token add --user me@museum.test --name ci')
  await sql`alter table audit add constraint closed check (false) not valid`.execute(db)
  for (const words of [
    'token add --user me@museum.test --name x',
    'token revoke ci',
    'user password me@museum.test --link',
  ]) {
    t.match(await refusal(words), '"closed"')
  }
  await sql`alter table audit drop constraint closed`.execute(db)
  t.match((await print('token list')).split('\n'), [/^id /, /^1 +ci /, ''])
  t.strictSame(await db.selectFrom('password_resets').selectAll().where('user_id', '=', user).execute(), [])
})

test('an import leaves a line for each record, and a dry run or a refused import none', async t => {
  const records = Array.from({ length: 5001 }, (_, index) => ({ code: `en-${1000 + index}`, name: `English ${index}` }))
  await importLanguages(records, '--dry-run')
  t.strictSame(await lines(), [])
  await importLanguages(records)
  const written = await lines('--limit 9999')
  t.equal(written.length, 5001)
  t.match(written[0], { action: 'add', actor: 'keeper', table: 'languages', after: records[5000] })
  t.match(written[5000], { after: records[0] })
  const german = { code: 'de', name: 'Deutsch' }
  t.equal((await importLanguages([german, { code: 'en-1000', name: 'Twice' }])).code, 1)
  t.equal((await lines('--limit 9999')).length, 5001)
  const changed = { code: 'en-1000', name: 'Changed' }
  await importLanguages([changed, { code: 'en-1001', name: 'English 1' }, german], '--update')
  t.match(await lines('--limit 3'), [
    { action: 'add', after: german },
    { action: 'change', before: { name: 'English 0' }, after: { name: 'Changed' } },
    { after: records[5000] },
  ])
})

test('an imported license has its links and times in its line', async t => {
  await print('license-type add --type standard')
  await print('language add --code nl --name Nederlands')
  const license = { domain: 'museum.test', name: 'Museum', type_id: '1', language_ids: ['1'] }
  await print('license import - --format ndjson', { input: JSON.stringify(license) })
  t.strictSame((await lines('--limit 1'))[0].after, (await json('license show museum.test'))[0])
})

test('the demonstration records leave lines when a command adds them, and still count as empty', async t => {
  await print('platform add --name kiosk')
  const exported = await exportLines(database)
  const content = exported.slice(1)
  await removeRecords(database)
  await sql`drop table if exists portico_seeds`.execute(db)
  await print('seed')
  const written = await lines('--limit 999')
  t.match(written.at(-1), { action: 'add', actor: 'keeper', table: 'license_types', after: { type: 'demonstration' } })
  t.equal(written.filter(({ table }) => table === 'licenses').length, 3)
  await print('seed')
  t.equal((await lines('--limit 999')).length, written.length)
  await print('restore', { input: exported.join('\n') })
  t.strictSame(await contentOf(database), content)
})

test('"seed" says how many records of each kind it has added', async t => {
  const forget = () => sql`drop table if exists portico_seeds`.execute(db)
  await forget()
  t.equal(await print('seed'), 'Added 1 license type, 3 languages, 2 platforms, 3 licenses, 5 museums and 3 groups.\n')
  await print('license remove localhost')
  await forget()
  t.equal(await print('seed'), 'Added 1 license, 3 museums and 1 group.\n')
  await print('license remove protected.localhost')
  await forget()
  t.strictSame(await json('seed'), [{ seeded: true, added: { licenses: 1, museums: 1, groups: 1 } }])
})

test('an export and a restore keep all lines and their ids, and new ids continue', async t => {
  await addLines(
    {
      action: 'add',
      after: { id: '9007199254740993', name: '\'"\\</script>\u2028 博物館 💥' },
      record_id: '9007199254740993',
    },
    { action: 'change', before: { a: [1, null, 1e300] }, after: {}, via: 'api', user_id: '5', actor: 'me@museum.test' },
    { action: 'remove', before: {}, at: '2026-01-02T03:04:05.678901Z' },
  )
  await sql`delete from audit where id = 1`.execute(db)
  const exported = await exportLines(database)
  t.match(exported.join('\n'), '"before":{"a": [1, null, 1000000000')
  await removeRecords(database)
  await print('restore', { input: exported.join('\n') })
  t.strictSame(await contentOf(database), exported.slice(1))
  await print('platform add --name kiosk')
  t.match(await lines(), [{ id: '4' }, { id: '3' }, { id: '2' }])
})

test('a line that makes no sense is not restored', async t => {
  await print('platform add --name kiosk')
  const exported = await exportLines(database)
  await removeRecords(database)
  const number = exported.findIndex(line => line.startsWith('{"table":"audit"'))
  const { table, record } = JSON.parse(String(exported[number]))
  for (const wrong of [
    { after: null },
    { after: [] },
    { before: {} },
    { action: 'steal' },
    { via: 'x' },
    { table: null },
  ]) {
    const input = exported.with(number, JSON.stringify({ table, record: { ...record, ...wrong } })).join('\n')
    t.match(await refusal('restore', { input }), `line ${number + 1} of the input: The database refuses it: `)
    t.strictSame(await lines(), [])
  }
})

test('the table has a row for each line, and nothing in it controls the terminal', async t => {
  await addLines(
    { action: 'change', table: 'licenses', via: 'api', actor: 'me@museum.test', before: { id: '7' }, after: {} },
    { action: 'add', actor: '\u001b[2J\u0007\r\n\u009b31mred', after: { name: 'Depot' } },
  )
  const table = await print('audit')
  t.match(table.split('\n'), [
    /^at +actor +action +table +record_id +via$/,
    / add +museums +7 +command$/,
    / change +licenses +7 +api$/,
    '',
  ])
  t.notMatch(table, /[^\P{Cc}\n]/u)
})

t.test('who runs a command is named by the environment, or by their number', async t => {
  t.equal(systemUserOf({ SUDO_USER: 'me', LOGNAME: 'root', USER: 'root' }, 0), 'me')
  t.equal(systemUserOf({ SUDO_USER: '', LOGNAME: 'me', USER: 'other' }, 1000), 'me')
  t.equal(systemUserOf({ USER: 'me' }, 1000), 'me')
  t.equal(systemUserOf({}, 1000), 'uid 1000')
})
