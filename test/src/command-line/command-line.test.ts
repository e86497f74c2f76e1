import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { endWithOutput } from '../../../src/command-line/end-with-output.ts'
import { run } from '../../../src/command-line/run.ts'
import { openDatabase } from '../../../src/database/database.ts'
import { build } from '../../support/build.ts'
import { heardOf } from '../../support/heard.ts'
import { makeFolder } from '../../support/folder.ts'
import { addLicense, addUser, testPassword } from '../../support/records.ts'
import { signIn } from '../../support/sign-in.ts'
import { makeEmbeddedFolder, openTestDatabase } from '../../support/test-database.ts'

const database = await openTestDatabase(t)
const license = await addLicense(database, { domain: 'museum.test', protected: true })
const other = await addLicense(database, { domain: 'other.test', protected: true })
const [staff, friends] = await database.db
  .insertInto('groups')
  .values([
    { license_id: license, name: 'Curators' },
    { license_id: license, name: 'Friends' },
    { license_id: other, name: 'Friends' },
  ])
  .returning('id')
  .execute()

const program = fileURLToPath(new URL('../../../src/command-line/main.js', import.meta.url))

/** Runs a command in this process, on the test's database. */
async function type(words: string, input: Readable = Readable.from([])) {
  let output = ''
  let errors = ''
  const code = await run(
    words.split(' ').filter(word => word !== ''),
    {
      input,
      output: new PassThrough().on('data', chunk => {
        output += String(chunk)
      }),
      errors: new PassThrough().on('data', chunk => {
        errors += String(chunk)
      }),
      openDatabase: async () => ({ ...database, close: async () => {} }),
    },
  )
  return { code, output, errors }
}

function piped(text: string): Readable {
  return Readable.from([text])
}

/** Input as typed at a terminal: each line once it is asked for. */
function typed(t: Test, keys: string): Readable {
  const terminal = Object.assign(new PassThrough(), { isTTY: true, setRawMode() {} })
  t.teardown(() => terminal.destroy())
  terminal.write(keys)
  return terminal
}

async function findUser(email: string) {
  return await database.db.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirst()
}

for (const words of ['', 'help', '--help', '-h', 'frob --help']) {
  t.test(`"${words}" lists the commands`, async t => {
    const { code, output, errors } = await type(words)
    t.equal(code, 0)
    t.equal(errors, '')
    t.match(output, /^Usage: npm run portico -- <command>\n\n {2}user add <email>/)
    for (const command of ['user list', 'user password <email|id>', 'user remove <email|id>']) {
      t.match(output, `\n  ${command} `)
    }
  })
}

t.test('the list of all commands has their operands and not their options, so that it fits a terminal', async t => {
  const { output } = await type('--help')
  t.match(output, /^ {2}license add {2}.*\n {2}license change <domain\|id> {2}/m)
  t.strictSame(
    output.split('\n').filter(line => line.length > 80),
    [],
  )
})

t.test('the help of "remove" names what is removed, too', async t => {
  t.match((await type('license remove --help')).output, 'The museums and groups of the license are removed, too.')
  t.notMatch((await type('group remove --help')).output, 'removed, too')
})

t.test('"help" before a command is the same as "--help" after it', async t => {
  t.strictSame(await type('help user add'), await type('user add --help'))
})

for (const words of ['user --help', 'user']) {
  t.test(`"${words}" lists the user commands`, async t => {
    const { code, output } = await type(words)
    t.equal(code, 0)
    t.match(output, /\n {2}user add .*\n {2}user list/)
    t.notMatch(output, 'license add')
  })
}

t.test('"--version" prints the version', async t => {
  t.match(await type('--version'), { code: 0, output: /^portico \d+\.\d+\.\d+\n$/, errors: '' })
})

for (const command of ['user add', 'user list', 'user password', 'user remove']) {
  t.test(`"${command} --help" shows the usage and does nothing else`, async t => {
    const { code, output } = await type(`${command} --help`)
    t.equal(code, 0)
    t.match(output, `Usage: npm run portico -- ${command}`)
  })
}

const mistyped: Record<string, RegExp> = {
  'user ad a@b':
    /^portico: "user ad" is not a command\. Did you mean "user add"\? npm run portico -- --help shows how\.\n$/,
  seeed: /^portico: "seeed" is not a command\. Did you mean "seed"\?/,
  'migrat now': /^portico: "migrat now" is not a command\. Did you mean "migrate"\?/,
  [`${'x'.repeat(100)}`]: /^portico: "x{100}" is not a command\. npm run/,
  'user add a@b --admn':
    /^portico: There is no option --admn\. Did you mean --admin\? npm run portico -- user add --help/,
  // --type differs in two letters, and --name in one.
  'license add --nape x': /^portico: There is no option --nape\. Did you mean --name\?/,
  'user frob': /^portico: "user frob" is not a command\./,
  'frob add': /^portico: "frob add" is not a command\./,
  'user add': /^portico: <email> is missing\. npm run portico -- user add --help shows how\.\n$/,
  'user add a@b c@d': /^portico: Unexpected argument "c@d"\./,
  'user add a@b --frob': /^portico: Unknown option '--frob'\. npm run/,
  'user add a@b --password secret': /^portico: Unknown option '--password'/,
  'user add a@b --group': /^portico: Option '--group <value>' argument missing\. npm run/,
  'user list a@b': /^portico: Unexpected argument "a@b"\./,
  'user remove': /^portico: <email\|id> is missing\./,
  'user password': /^portico: <email\|id> is missing\./,
}

for (const [words, errors] of Object.entries(mistyped)) {
  t.test(`"${words}" is refused with a one-line message`, async t => {
    const result = await type(words)
    t.equal(result.code, 2)
    t.equal(result.output, '')
    t.match(result.errors, errors)
    t.match(result.errors, /^[^\n]+\n$/)
  })
}

t.test('an added user can sign in with the password that was piped in', async t => {
  t.strictSame(await type('user add piped@museum.test --group Curators', piped('a long password\n')), {
    code: 0,
    output: 'Added piped@museum.test.\n',
    errors: '',
  })
  const app = await build(t, { database })
  const cookie = await signIn(app, { host: 'museum.test', email: 'piped@museum.test', password: 'a long password' })
  t.equal((await app.inject({ url: '/', headers: { host: 'museum.test', cookie } })).statusCode, 200)
})

for (const [what, input, password] of [
  ['the first line', 'first line\nsecond line\n', 'first line'],
  ['the line without its carriage return', 'first line\r\n', 'first line'],
  ['the line with its blanks', '  spaced out  \n', '  spaced out  '],
  ['the whole input if it has no line feed', 'no line feed', 'no line feed'],
] as const) {
  t.test(`a piped password is ${what}`, async t => {
    const email = `${password.length}-${input.length}@museum.test`
    t.equal((await type(`user add ${email} --admin`, piped(input))).code, 0)
    const app = await build(t, { database })
    await signIn(app, { host: 'museum.test', email, password })
  })
}

t.test('a user can be an admin, or join groups by name, by id, or by name and license', async t => {
  await type(
    `user add admin@museum.test --admin --group Curators --group ${staff?.id} --group ${friends?.id}`,
    piped('a long password'),
  )
  await type('user add friend@museum.test --group Friends --license other.test', piped('a long password'))
  const { output } = await type('user list')
  t.match(output, /^email +admin +groups\n/)
  t.match(output, /^admin@museum\.test +admin {2}Curators of museum\.test, Friends of museum\.test$/m)
  t.match(output, /^friend@museum\.test +Friends of other\.test$/m)
  t.notMatch(output, /argon|password/)
})

const refused: [words: string, input: string, errors: string][] = [
  ['user add nobody', 'a long password', '"nobody" is not an e-mail address.'],
  [`user add ${'a'.repeat(254)}@b`, 'a long password', 'is not an e-mail address.'],
  ['user add a@b', 'short', 'password must have at least 8 characters.'],
  ['user add a@b', '', 'password must have at least 8 characters.'],
  ['user add a@b', 'no text\u{fffd}', 'password must be UTF-8 text'],
  ['user add a@b', 'zero\0zero', 'without NUL characters.'],
  ['user add jose\u0301@b', 'a long password', 'is not an e-mail address.'],
  ['user add a@b', '\u{1f5dd}'.repeat(7), 'password must have at least 8 characters.'],
  ['user add a@b', 'x'.repeat(1025), 'password must have at most 1024 characters.'],
  ['user add a@b --group Nobodys', 'a long password', 'There is no group "Nobodys".'],
  [
    'user add a@b --group Curators --license other.test',
    'a long password',
    'There is no group "Curators" of a license for "other.test".',
  ],
  ['user add a@b --group 99999999999999999999', 'a long password', 'There is no group "99999999999999999999".'],
  ['user add a@b --group Friends', 'a long password', 'Friends of'],
  ['user password nobody@museum.test', 'a long password', 'There is no user "nobody@museum.test".'],
  ['user remove nobody@museum.test', '', 'There is no user "nobody@museum.test".'],
]

for (const [words, input, errors] of refused) {
  t.test(
    `"${words.slice(0, 60)}" with "${input.slice(0, 20)}" is refused in one line, and no user is added`,
    async t => {
      const result = await type(words, piped(input))
      t.equal(result.code, 1)
      t.match(result.errors, /^portico: [^\n]+\n$/)
      t.match(result.errors, errors === 'Friends of' ? 'There are several groups "Friends"' : errors)
      t.equal(await findUser('a@b'), undefined)
    },
  )
}

t.test('e-mail addresses are unique regardless of capitals', async t => {
  await addUser(database, { email: 'Once@museum.test' })
  const { code, errors } = await type('user add oNCE@museum.test', piped('a long password'))
  t.equal(code, 1)
  t.equal(errors, 'portico: There is already a user oNCE@museum.test.\n')
})

t.test('an unexpected failure is not reported as a usage error', async t => {
  await t.rejects(
    run(['user', 'list'], {
      input: piped(''),
      output: new PassThrough(),
      errors: new PassThrough(),
      openDatabase: async () => {
        throw new Error('Broken')
      },
    }),
    { message: 'Broken' },
  )
})

t.test("changing a password ends the user's sessions, and the new password signs in", async t => {
  await addUser(database, { email: 'changed@museum.test', licenses: [license] })
  const app = await build(t, { database })
  const ask = async (cookie: string) =>
    (await app.inject({ url: '/', headers: { host: 'museum.test', cookie } })).statusCode
  const cookie = await signIn(app, { host: 'museum.test', email: 'changed@museum.test' })
  t.equal(await ask(cookie), 200)
  await heardOf(database, async () => {
    t.equal(
      (await type('user password CHANGED@museum.test', piped('another password'))).output,
      'Changed the password of changed@museum.test.\n',
    )
  })
  await t.rejects(signIn(app, { host: 'museum.test', email: 'changed@museum.test', password: testPassword }))
  t.equal(await ask(cookie), 401)
  t.equal(
    await ask(await signIn(app, { host: 'museum.test', email: 'changed@museum.test', password: 'another password' })),
    200,
  )
})

t.test('a removed user is gone', async t => {
  await addUser(database, { email: 'gone@museum.test', licenses: [license] })
  t.match(await type('user remove GONE@museum.test'), {
    code: 0,
    output: /^Removed the user "gone@museum\.test" \(id \d+\)\.\n$/,
    errors: '',
  })
  t.equal(await findUser('gone@museum.test'), undefined)
})

t.test('--json prints the outcome for a user as JSON', async t => {
  const user = { email: 'json@museum.test', admin: true, group_ids: [staff?.id] }
  for (const [words, password] of [
    ['add json@museum.test --admin --group Curators', 'a long password'],
    ['password json@museum.test', 'another password'],
    ['remove json@museum.test', ''],
  ] as const) {
    t.match(JSON.parse((await type(`user ${words} --json`, piped(password))).output), user, words)
  }
})

t.test('the only admin can be neither removed nor demoted', async t => {
  const { db } = database
  const admins = await db.updateTable('users').set({ admin: false }).where('admin', '=', true).returning('id').execute()
  await addUser(database, { email: 'only@museum.test', admin: true })
  for (const words of ['user remove only@museum.test', 'user change only@museum.test --admin false']) {
    t.strictSame(await type(words), {
      code: 1,
      output: '',
      errors: 'portico: This user is the only admin. Make somebody else an admin first.\n',
    })
  }
  for (const { id } of admins) await db.updateTable('users').set({ admin: true }).where('id', '=', id).execute()
})

t.test('a terminal asks for the password twice and never shows it', async t => {
  const { code, output, errors } = await type(
    'user add typed@museum.test',
    typed(t, 'a long passwort\x7fd\ra long password\r'),
  )
  t.equal(code, 0)
  t.equal(output, 'Added typed@museum.test.\n')
  t.equal(errors, 'Password: \nRepeat the password: \n')
  const app = await build(t, { database })
  await signIn(app, { host: 'museum.test', email: 'typed@museum.test', password: 'a long password' })
})

t.test('a terminal does not ask again for a password that is too short', async t => {
  const { code, errors } = await type('user add short@museum.test', typed(t, 'short\r'))
  t.equal(code, 1)
  t.match(errors, /^Password: \nportico: .*password/i)
  t.notMatch(errors, 'Repeat')
  t.equal(await findUser('short@museum.test'), undefined)
})

for (const [what, keys, error] of [
  ['entering two passwords', 'a long password\ra wrong password\r', 'The passwords do not match.'],
  ['pressing Ctrl-C', 'a long\x03', 'Nothing was changed.'],
  ['pressing Ctrl-D', '\x04', 'Nothing was changed.'],
  ['pressing Ctrl-C at the second prompt', 'a long password\r\x03', 'Nothing was changed.'],
] as const) {
  t.test(`${what} at a terminal changes nothing`, async t => {
    const { code, errors } = await type('user add nobody@museum.test', typed(t, keys))
    t.equal(code, 1)
    t.match(errors, `portico: ${error}\n`)
    t.notMatch(errors, 'long')
    t.equal(await findUser('nobody@museum.test'), undefined)
  })
}

for (const [code, exitCode, told] of [
  ['EPIPE', 0, ''],
  ['ENOSPC', 1, 'portico: The output cannot be written: ENOSPC: write.\n'],
] as const) {
  t.test(`an output that fails with ${code} ends the process with exit code ${exitCode}`, async t => {
    const [output, errors] = [new PassThrough(), new PassThrough()]
    const exited = new Promise(resolve => endWithOutput({ output, errors }, resolve))
    output.destroy(Object.assign(new Error(`${code}: write`), { code }))
    t.equal(await exited, exitCode)
    t.equal(errors.setEncoding('utf8').read() ?? '', told)
  })
}

const hasTerminal = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') === true

t.test(
  'on a terminal, a command shows how long it takes to create the database',
  { skip: !hasTerminal && "it needs util-linux's script to open a terminal" },
  async t => {
    const command = [process.execPath, ...process.execArgv, program, 'license', 'list'].join(' ')
    const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
      env: { ...process.env, DATA_DIR: './new', DATABASE_URL: '' },
      cwd: makeFolder(t),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
    t.equal(code, 0)
    t.match(output, /^\rCreating the database in \.\/new: 0\.0 s(?:\r.*: \d+\.\d s)+\r\nid +domain/)
  },
)

t.test('a command in its own process does the same alone and beside a server', async t => {
  const folder = makeEmbeddedFolder(t)
  const start = async (...words: string[]) => {
    const env = { ...process.env, DATA_DIR: folder, DATABASE_URL: '' }
    const child = spawn(process.execPath, [...process.execArgv, program, ...words], {
      env,
      cwd: folder,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    child.stdin.end('a long password\n')
    const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    return { code, output, errors }
  }
  t.strictSame(
    await start('user', 'add', 'first@museum.test', '--group', 'Staff', '--license', 'protected.localhost'),
    { code: 0, output: 'Added first@museum.test.\n', errors: '' },
  )
  t.match(await start('user', 'password', 'first@museum.test', '--link'), {
    code: 0,
    output: /^http:\/\/protected\.localhost:3000\/password\/reset\?token=[\w-]{43}\n$/,
  })
  const opened = await openDatabase({ databaseUrl: undefined, dataDir: folder })
  t.teardown(() => opened.close())
  t.strictSame(await start('user', 'add', 'second@museum.test'), {
    code: 0,
    output: 'Added second@museum.test.\n',
    errors: '',
  })
  t.strictSame(await start('user', 'add', 'second@museum.test'), {
    code: 1,
    output: '',
    errors: 'portico: There is already a user second@museum.test.\n',
  })
  t.match(await opened.db.selectFrom('users').select('email').orderBy('id').execute(), [
    { email: 'first@museum.test' },
    { email: 'second@museum.test' },
  ])
})
