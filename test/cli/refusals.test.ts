import t from 'tap'
import { seed } from '../../src/database/migrate.ts'
import { formats } from '../../src/records/validation.ts'
import { contentOf } from '../support/backup-records.ts'
import { makeFolder } from '../support/folder.ts'
import { addUser, openTestDatabase } from '../support/site.ts'
import { commandsOn } from '../support/run-command.ts'

const database = await openTestDatabase(t)
await seed(database.db)
await addUser(database, { email: 'me@museum.test' })
const { type, refusal } = commandsOn(database)
const folder = makeFolder(t)
const before = await recordsOf()

async function recordsOf() {
  // The last line has the next ids, some of which are used up.
  return (await contentOf(database)).slice(0, -1)
}

function titleOf(words: string): string {
  return JSON.stringify(words.replace(folder, 'a folder').slice(0, 100))
}

/** What is wrong about a command line. */
const mistyped: Record<string, string> = {
  'user ad a@b': '"user ad" is not a command. Did you mean "user add"?',
  seeed: '"seeed" is not a command. Did you mean "seed"?',
  'user frob': '"user frob" is not a command.',
  ['x'.repeat(100)]: `"${'x'.repeat(100)}" is not a command.`,
  // --type differs in two letters, and --name in one.
  'license add --nape x': 'There is no option --nape. Did you mean --name?',
  'license add --colour red': "Unknown option '--colour'.",
  'license show': '<domain|id> is missing.',
  'license change localhost': 'There is nothing to change.',
  'museum list --limit 0': '--limit must be a whole number of at least 1.',
  'museum list --sort colour': '--sort must be one of id, -id, name, -name.',
  'user add': '<email> is missing.',
  'user add a@b c@d': 'Unexpected argument "c@d".',
  'user add a@b --frob': "Unknown option '--frob'.",
  'user add a@b --group': "Option '--group <value>' argument missing.",
  'user add a@b --password secret': "Unknown option '--password'.",
  'user change me@museum.test --password secret': "Unknown option '--password'.",
  'user password me@museum.test --host localhost': '--host needs --link.',
  'platform import': '<file> is missing.',
  'platform import records.xml': '--format must be ndjson or csv.',
  // Their names are not unique.
  'museum import - --format csv --update': "Unknown option '--update'.",
  'export all.ndjson': 'Unexpected argument "all.ndjson".',
  'export --force': '--force and --json need --output.',
  'restore all.ndjson others.ndjson': 'Unexpected argument "others.ndjson".',
  'restore all.ndjson --input others.ndjson': 'Name one file.',
}

for (const [words, message] of Object.entries(mistyped)) {
  t.test(`${titleOf(words)} is refused in one line, which names the help`, async t => {
    const { code, output, errors } = await type(words)
    t.strictSame([code, output], [2, ''])
    const [, shown, hint] = /^portico: (.*) npm run portico --((?: [a-z-]+)*) --help shows how\.\n$/.exec(errors) ?? []
    t.equal(shown, message)
    t.ok(words.startsWith(String(hint).trim()), `the hint is ${hint}`)
  })
}

const name = `--domain a.test --name A --type demonstration`
const notOne = 'There is no license for'
/** What keeps a command from being done. "…" stands for the rest of the sentence. */
const refused: Record<string, string> = {
  'license add': 'domain is missing; name is missing; type_id is missing.',
  'license add --domain A:80 --name x --type-id one --protected maybe': `domain must be ${formats.host.expects}; type_id must be ${formats.id.expects}; protected must be true or false.`,
  'license add --domain a.test --name a --type none': 'There is no license type "none".',
  [`license add ${name} --valid-from 2027-01-01T00:00:00Z --valid-until 2026-01-01T00:00:00Z`]:
    'valid_until must be after valid_from.',
  'license change localhost --languages en,xx': 'There is no language "xx".',
  'license remove nobody.test': 'There is no license "nobody.test".',
  'license-type remove demonstration': 'This license type is still in use: licenses refer to it.',
  'group show Staff': 'There are several groups "Staff". Use an id such as 1 or 2.',
  // Control characters do not reach the terminal.
  'museum add --name a --license \u001b[2J': 'There is no license " [2J".',
  'user password nobody@museum.test': 'There is no user "nobody@museum.test".',
  'user change me@museum.test --group Staff':
    'There are several groups "Staff": 1 of localhost, 2 of 127.0.0.1, 3 of protected.localhost. Use an id, or --license.',
  'token add --name ci': 'user_id is missing.',
  'token add --user nobody@museum.test --name ci': 'There is no user "nobody@museum.test".',
  'token add --user me@museum.test --name 7': 'name must not be a number, which would look like an id.',
  'token add --user me@museum.test --name ci --expires-at 2026-01-01T00:00:00Z': 'expires_at must be in the future.',
  'token revoke ci': 'There is no token "ci".',
  'user password me@museum.test --link --host unknown.test': `${notOne} "unknown.test".`,
  'user password me@museum.test --link --host localhost/path': `${notOne} "localhost/path".`,
  'user password me@museum.test --link --host ftp://localhost': `${notOne} "ftp://localhost".`,
  'user password me@museum.test --link --host localhost:65536':
    'The port of "localhost:65536" must be from 1 to 65535.',
  'audit --record-id seven': `record_id must be ${formats.id.expects}.`,
  'platform import /none/such.csv': '/none/such.csv cannot be read: ENOENT…',
  [`platform import ${folder} --format csv`]: `${folder} cannot be read: EISDIR…`,
  'restore /none/such.ndjson': '/none/such.ndjson cannot be read: ENOENT…',
}

for (const [words, message] of Object.entries(refused)) {
  t.test(`${titleOf(words)} is refused in one line`, async t => {
    const reason = await refusal(words)
    t.ok(`${reason}…`.startsWith(message.replace(/…$/, '')), reason)
    t.notMatch(reason, '\n')
  })
}

const longEmail = `${'a'.repeat(253)}@b`
const someone = 'user add a@b'
for (const [words, password, message] of [
  ['user add nobody', 'a long password', '"nobody" is not an e-mail address.'],
  [`user add ${longEmail}`, 'a long password', `"${longEmail}" is not an e-mail address.`],
  [someone, '\u{1f5dd}'.repeat(7), 'password must have at least 8 characters.'],
  [someone, 'no text\u{fffd}', 'password must be UTF-8 text without NUL characters.'],
  [`${someone} --group Nobodys`, 'a long password', 'There is no group "Nobodys".'],
  [`${someone} --group Staff`, 'a long password', 'There are several groups "Staff": '],
  [
    `${someone} --group Curators --license localhost`,
    'a long password',
    'There is no group "Curators" of a license for "localhost".',
  ],
  ['user add ME@museum.test', 'a long password', 'There is already a user ME@museum.test.'],
] as const) {
  t.test(`"${words.slice(0, 60)}" with the password "${password.slice(0, 20)}" is refused in one line`, async t => {
    const reason = await refusal(words, { input: password })
    t.ok(reason.startsWith(message), reason)
    t.notMatch(reason, '\n')
  })
}

t.test('no command that was refused has changed anything', async t => {
  t.strictSame(await recordsOf(), before)
})
