import { PassThrough } from 'node:stream'
import t, { type Test } from 'tap'
import { endWithOutput } from '../../cli/terminal.ts'
import { addLicense, addUser, build, heardOf, openTestDatabase, signIn, testPassword } from '../support/site.ts'
import { commandsOn } from '../support/run-command.ts'

const database = await openTestDatabase(t)
const { db } = database
const license = await addLicense(database, { domain: 'museum.test', protected: true })
const other = await addLicense(database, { domain: 'other.test', protected: true })
const [staff, friends] = await db
  .insertInto('groups')
  .values([
    { license_id: license, name: 'Curators' },
    { license_id: license, name: 'Friends' },
    { license_id: other, name: 'Friends' },
  ])
  .returning('id')
  .execute()
const { type, json, print } = commandsOn(database)
const app = await build(t, { database })

/** Signs in, and asks for the front page. @returns its status */
async function enter(email: string, password: string): Promise<number> {
  return await ask(await signIn(app, { host: 'museum.test', email, password }))
}

async function ask(cookie: string): Promise<number> {
  return (await app.inject({ url: '/', headers: { host: 'museum.test', cookie } })).statusCode
}

async function exists(email: string): Promise<boolean> {
  return (await db.selectFrom('users').select('id').where('email', '=', email).execute()).length > 0
}

for (const [words, shown, hidden] of [
  ['', /^Usage: npm run portico -- <command>\n\n {2}user add <email> [^]*\n {2}user password <email\|id> /, '\0'],
  ['help', /\n {2}user remove <email\|id> [^]*\n {2}license add {2}.*\n {2}license change <domain\|id> {2}/, '\0'],
  ['--help', /\n {2}user list /, '\0'],
  ['-h', /\n {2}user list /, '\0'],
  ['frob --help', /\n {2}user list /, '\0'],
  ['user --help', /\n {2}user add .*\n {2}user list/, 'license add'],
  ['user', /\n {2}user add .*\n {2}user list/, 'license add'],
  ['user add --help', /^Usage: npm run portico -- user add <email> /, 'Added'],
  ['help user add', /^Usage: npm run portico -- user add <email> /, 'Added'],
  ['license remove --help', /The museums and groups of the license are removed, too\./, '\0'],
  ['group remove --help', /^Usage: npm run portico -- group remove/, 'removed, too'],
  ['--version', /^portico \d+\.\d+\.\d+\n$/, '\0'],
] as const) {
  t.test(`"${words}" shows help and does nothing else`, async t => {
    const output = await print(words)
    t.match(output, shown)
    t.notMatch(output, hidden)
  })
}

t.test('the list of all commands fits a terminal', async t => {
  const lines = (await print('--help')).split('\n')
  t.strictSame(
    lines.filter(line => line.length > 80),
    [],
  )
})

t.test('an added user can sign in with the password that was piped in', async t => {
  t.strictSame(await type('user add piped@museum.test --group Curators', { input: 'a long password\n' }), {
    code: 0,
    output: 'Added piped@museum.test.\n',
    errors: '',
  })
  t.equal(await enter('piped@museum.test', 'a long password'), 200)
})

for (const [what, input, password] of [
  ['the first line', 'first line\nsecond line\n', 'first line'],
  ['the line without its carriage return', 'first line\r\n', 'first line'],
  ['the line with its blanks', '  spaced out  \n', '  spaced out  '],
  ['the whole input if it has no line feed', 'no line feed', 'no line feed'],
] as const) {
  t.test(`a piped password is ${what}`, async t => {
    const email = `${password.length}-${input.length}@museum.test`
    await print(`user add ${email} --admin`, { input })
    t.equal(await enter(email, password), 200)
  })
}

t.test('a user can be an admin, or join groups by name, by id, or by name and license', async t => {
  const input = 'a long password'
  await print(`user add admin@museum.test --admin --group Curators --group ${staff?.id} --group ${friends?.id}`, {
    input,
  })
  await print('user add friend@museum.test --group Friends --license other.test', { input })
  t.match((await json('user list')).slice(-2), [
    { email: 'admin@museum.test', admin: true, group_ids: [staff?.id, friends?.id] },
    { email: 'friend@museum.test', admin: false },
  ])
  t.notMatch(await print('user list'), /argon|password/)
})

t.test("changing a password ends the user's sessions, and the new password signs in", async t => {
  const email = 'changed@museum.test'
  await addUser(database, { email, licenses: [license] })
  const cookie = await signIn(app, { host: 'museum.test', email })
  t.equal(await ask(cookie), 200)
  await heardOf(database, async () => {
    t.equal(
      await print('user password CHANGED@museum.test', { input: 'another password' }),
      `Changed the password of ${email}.\n`,
    )
  })
  await t.rejects(enter(email, testPassword))
  t.equal(await ask(cookie), 401)
  t.equal(await enter(email, 'another password'), 200)
})

t.test('a removed user is gone', async t => {
  await addUser(database, { email: 'gone@museum.test', licenses: [license] })
  t.match(await print('user remove GONE@museum.test'), /^Removed the user "gone@museum\.test" \(id \d+\)\.\n$/)
  t.notOk(await exists('gone@museum.test'))
})

t.test('--json prints the outcome for a user as JSON', async t => {
  const user = { email: 'json@museum.test', admin: true, group_ids: [staff?.id] }
  for (const [words, input] of [
    ['add json@museum.test --admin --group Curators', 'a long password'],
    ['password json@museum.test', 'another password'],
    ['remove json@museum.test', ''],
  ] as const) {
    t.match(await json(`user ${words}`, { input }), [user], words)
  }
})

/** Adds a user at a terminal where these keys are pressed. */
async function press(t: Test, email: string, keys: string) {
  const input = Object.assign(new PassThrough(), { setRawMode() {} })
  t.teardown(() => input.destroy())
  input.write(keys)
  return await type(`user add ${email}`, { input, terminals: ['input'] })
}

t.test('a terminal asks for the password twice and never shows it', async t => {
  t.strictSame(await press(t, 'typed@museum.test', 'a long passwort\x7fd\ra long password\r'), {
    code: 0,
    output: 'Added typed@museum.test.\n',
    errors: 'Password: \nRepeat the password: \n',
  })
  await signIn(app, { host: 'museum.test', email: 'typed@museum.test', password: 'a long password' })
})

for (const [what, keys, errors] of [
  ['a password that is too short', 'short\r', 'Password: \nportico: password must have at least 8 characters.\n'],
  ['two passwords', 'a long password\ra wrong password\r', /: \nportico: The passwords do not match\.\n$/],
  ['Ctrl-C', 'a long\x03', 'Password: \nportico: Nothing was changed.\n'],
  ['Ctrl-D', '\x04', 'Password: \nportico: Nothing was changed.\n'],
  [
    'Ctrl-C at the second prompt',
    'a long password\r\x03',
    'Password: \nRepeat the password: \nportico: Nothing was changed.\n',
  ],
] as const) {
  t.test(`typing ${what} at a terminal changes nothing`, async t => {
    const told = await press(t, 'nobody@museum.test', keys)
    t.equal(told.code, 1)
    t.match(told.errors, errors)
    t.notMatch(told.errors, 'a long')
    t.notOk(await exists('nobody@museum.test'))
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
