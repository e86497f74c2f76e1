import { Readable } from 'node:stream'
import t from 'tap'
import { addLicenseType } from '../../support/records.ts'
import { keptOpen, runCommand } from '../../support/run-command.ts'
import { openTestDatabase } from '../../support/test-database.ts'

const database = await openTestDatabase(t)
await database.db.deleteFrom('licenses').execute()
await addLicenseType(database, 'standard')
const openDatabase = keptOpen(database)

async function type(words: string, input = '') {
  return await runCommand(words.split(' '), { openDatabase, input: Readable.from([Buffer.from(input)]) })
}

async function json(words: string) {
  const { code, output, errors } = await type(`${words} --json`)
  if (code !== 0) throw new Error(errors)
  return JSON.parse(output)
}

/** The CSV of one license. */
const csv = (cells: Record<string, string>) =>
  `domain,name,type_id,${Object.keys(cells).join()}\nimported.test,Imported,1,${Object.values(cells).join()}\n`

const importing = 'license import - --format csv'

t.test('options set the validity of a license, and "none" or nothing takes it back', async t => {
  const added = await json(
    'license add --domain timed.test --name Timed --type standard --suspended --valid-from 2900-01-01T00:00:00Z',
  )
  t.match(added, { suspended: true, valid_from: '2900-01-01T00:00:00.000Z', valid_until: null })
  t.match(
    await json('license change timed.test --no-suspended --valid-from none --valid-until 2901-01-01T00:00:00+01:00'),
    { suspended: false, valid_from: null, valid_until: '2900-12-31T23:00:00.000Z' },
  )
  t.match(await json('license change timed.test --valid-until='), { valid_until: null })
  await type('license remove timed.test')
})

t.test('a list of 80 columns says whether each site is open, and JSON has the fields instead', async t => {
  const states = {
    open: '--valid-from 2001-01-01T00:00:00Z --valid-until 2900-01-01T00:00:00Z',
    asleep: '--valid-from 2900-01-01T00:00:00Z',
    suspended: '--suspended',
    ended: '--valid-until 2001-01-01T00:00:00Z',
  }
  for (const [state, options] of Object.entries(states)) {
    await type(`license add --domain ${state}.test --name Museum --type standard ${options}`)
  }
  const { output } = await runCommand(['license', 'list', '--sort=id'], { openDatabase, terminals: ['output'] })
  const [headings = '', ...lines] = output.trimEnd().split('\n')
  t.match(headings, /^id +domain +state +name /)
  t.ok([headings, ...lines].every(line => line.length <= 80))
  t.strictSame(
    lines.map(line => line.split(/ +/).slice(1, 3)),
    Object.keys(states).map(state => [`${state}.test`, state]),
  )
  t.match(
    (await type('license show asleep.test')).output,
    /^state +asleep\n[^]*^valid_from +2900-01-01T00:00:00\.000Z$/m,
  )
  t.match((await type('license change ended.test --valid-until none')).output, /^state +open$/m)
  t.notOk('state' in (await json('license show suspended.test')))
  for (const state of Object.keys(states)) await type(`license remove ${state}.test`)
})

for (const [words, errors] of [
  [
    'license add --domain a.test --name A --type standard --valid-from 2027-01-01',
    /^valid_from must be a time with its/,
  ],
  [
    'license add --domain a.test --name A --type standard --valid-until tomorrow',
    /^valid_until must be a time with its/,
  ],
  [
    'license add --domain a.test --name A --type standard --valid-from 2027-01-01T00:00:00Z --valid-until 2026-01-01T00:00:00Z',
    /^valid_until must be after valid_from\.$/,
  ],
  ['license add --domain a.test --name A --type standard --suspended maybe', /^suspended must be true or false\.$/],
] as const) {
  t.test(`"${words.replace(/.*standard /, '')}" is refused in one line`, async t => {
    const result = await type(words)
    t.equal(result.code, 1)
    t.match(result.errors.replace('portico: ', '').trimEnd(), errors)
    t.match(result.errors, /^[^\n]+\n$/)
  })
}

t.test('the help says how to take a time away', async t => {
  t.match((await type('license change --help')).output, /^--valid-until <date-time\|none> +When the site closes/m)
})

t.test('an import without the columns adds licenses that are always valid', async t => {
  t.equal((await type(importing, csv({ protected: 'true' }))).code, 0)
  t.match(await json('license show imported.test'), { suspended: false, valid_from: null, valid_until: null })
  await type('license remove imported.test')
})

t.test('an import sets the validity, and with --update an empty cell or "none" takes a time back', async t => {
  const times = { valid_from: '2027-01-01T00:00:00Z', valid_until: '2900-01-01T00:00:00Z' }
  await type(importing, csv({ suspended: 'true', ...times }))
  t.match(await json('license show imported.test'), {
    suspended: true,
    valid_from: '2027-01-01T00:00:00.000Z',
    valid_until: '2900-01-01T00:00:00.000Z',
  })
  await type(`${importing} --update`, csv({ suspended: '', valid_until: '' }))
  t.match(await json('license show imported.test'), {
    suspended: true,
    valid_from: '2027-01-01T00:00:00.000Z',
    valid_until: null,
  })
  await type(`${importing} --update`, csv({ valid_from: 'none' }))
  t.match(await json('license show imported.test'), { valid_from: null })
  await type('license remove imported.test')
})

t.test('an import names each line whose times make no sense, and adds nothing', async t => {
  const row = (domain: string, fields: object) => JSON.stringify({ domain, name: 'N', type_id: '1', ...fields })
  const lines = [
    row('good.test', { valid_from: '2027-01-01T00:00:00Z', valid_until: null }),
    row('day.test', { valid_from: '2027-02-30T00:00:00Z' }),
    row('order.test', { valid_from: '2027-01-01T00:00:00Z', valid_until: '2026-01-01T00:00:00Z' }),
    row('last.test', { suspended: 'yes' }),
  ]
  const { code, errors } = await type('license import - --format ndjson', lines.join('\n'))
  t.equal(code, 1)
  t.match(errors, /: 3 lines of .* are invalid\./)
  t.match(errors, '\n  line 2: valid_from must be a time with its zone')
  t.match(errors, '\n  line 3: valid_until must be after valid_from.\n')
  t.match(errors, '\n  line 4: suspended must be true or false.\n')
  t.equal((await type('license show good.test')).code, 1)
})

t.test('with --update, lines that make no sense together or with what is stored are named', async t => {
  await type('license add --domain stored.test --name S --type standard --valid-from 2027-01-01T00:00:00Z')
  const row = (domain: string, fields: object) => JSON.stringify({ domain, name: 'N', type_id: '1', ...fields })
  const lines = [
    row('stored.test', { valid_until: '2026-01-01T00:00:00Z' }),
    row('both.test', { valid_from: '2027-01-01T00:00:00Z' }),
    row('both.test', { valid_until: '2026-01-01T00:00:00Z' }),
  ]
  const { code, errors } = await type('license import - --format ndjson --update', lines.join('\n'))
  t.equal(code, 1)
  t.match(errors, '\n  line 1: valid_until must be after valid_from.\n')
  t.match(errors, '\n  line 3: valid_until must be after valid_from.\n')
  t.equal((await type('license show both.test')).code, 1)
  await type('license remove stored.test')
})
