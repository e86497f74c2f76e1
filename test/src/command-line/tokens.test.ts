import t, { type Test } from 'tap'
import { sql } from 'kysely'
import { addLicense, addUser } from '../../support/records.ts'
import { keptOpen, runCommand } from '../../support/run-command.ts'
import { openTestDatabase } from '../../support/test-database.ts'

const me = 'me@museum.test'
const other = 'other@museum.test'
const database = await openTestDatabase(t)
const { db } = database
await addUser(database, { email: me })
await addUser(database, { email: other })

async function type(...words: string[]) {
  return await runCommand(words, { openDatabase: keptOpen(database) })
}

async function tokens() {
  return await db.selectFrom('api_tokens').selectAll().orderBy('id').execute()
}

/** A test that begins without tokens. */
function test(title: string, act: (t: Test) => unknown): void {
  t.test(title, async t => {
    await sql`truncate api_tokens restart identity`.execute(db)
    await act(t)
  })
}

const day = 24 * 60 * 60 * 1000

test('"token add" prints the token alone, and stores its hash only', async t => {
  const { code, output, errors } = await type('token', 'add', 'ME@museum.test', '--name', 'ci')
  t.equal(code, 0)
  t.match(output, /^portico_[\w-]{43}\n$/)
  t.equal(errors, `Added the token "ci" of ${me}. It is not shown again:\n`)
  const [token, ...others] = await tokens()
  t.match(token, { name: 'ci', hash: /^[0-9a-f]{64}$/, read_only: false, last_used_at: null, expires_at: null })
  t.strictSame(others, [])
  t.notMatch(JSON.stringify(token), output.trim().replace('portico_', ''))
})

test('"token add --json" prints the token with what is known of it', async t => {
  const words = ['token', 'add', me, '--name', 'ci', '--read-only', '--expires', '2099-12-31', '--json']
  t.match(JSON.parse((await type(...words)).output), {
    id: '1',
    user: me,
    name: 'ci',
    read_only: true,
    expires_at: '2099-12-31T00:00:00.000Z',
    token: /^portico_/,
  })
})

test('two tokens are never the same', async t => {
  const { output } = await type('token', 'add', me, '--name', 'one')
  t.not((await type('token', 'add', me, '--name', 'two')).output, output)
})

test('a token may end after some days', async t => {
  const began = Date.now()
  t.equal((await type('token', 'add', me, '--name', 'ci', '--expires', '90d')).code, 0)
  const [token] = await tokens()
  t.ok(Number(token?.expires_at) >= began + 90 * day && Number(token?.expires_at) <= Date.now() + 90 * day)
})

for (const expires of [
  '0d',
  '-1d',
  '99999999d',
  '36501d',
  '1.5d',
  '90',
  'd',
  '',
  'tomorrow',
  '2027-02-30',
  '2027-13-01',
  '2026-01-01',
  '9999-01-01',
  '+012027-01-01',
  '2027-01-01T00:00:00Z',
  '٩d',
  '1d\n',
  '9'.repeat(10_000),
]) {
  test(`"--expires=${expires.slice(0, 20)}" is refused`, async t => {
    const { code, output, errors } = await type('token', 'add', me, '--name', 'ci', `--expires=${expires}`)
    t.equal(code, 2)
    t.equal(output, '')
    t.match(errors, /^portico: --expires must be a number of days such as 90d or a day in the future such as/)
    t.strictSame(await tokens(), [])
  })
}

for (const [what, name, problem] of [
  ['is empty', '', 'name must not be empty'],
  ['has 10 kB', 'x'.repeat(10_000), 'name must have at most 255 characters'],
  ['has a line feed', 'a\nb', 'name must be one line'],
  ['has an escape sequence', 'a\u001b[31m', 'name must be one line'],
  ['has a NUL', 'a\0b', 'name must be one line'],
  ['begins with a space', ' ci', 'name must be one line'],
  ['is a number', '7', '--name must not be a number'],
] as const) {
  test(`a name that ${what} is refused`, async t => {
    const { code, output, errors } = await type('token', 'add', me, `--name=${name}`)
    t.equal(code, 1)
    t.equal(output, '')
    t.match(errors, problem)
    t.strictSame(await tokens(), [])
  })
}

test('a user has one token of a name, and others may have another', async t => {
  t.equal((await type('token', 'add', me, '--name', 'ci')).code, 0)
  t.match(await type('token', 'add', me, '--name', 'ci'), {
    code: 1,
    output: '',
    errors: `portico: ${me} already has a token "ci".\n`,
  })
  t.equal((await type('token', 'add', other, '--name', 'ci')).code, 0)
})

test('a user who does not exist gets no token', async t => {
  t.match((await type('token', 'add', 'nobody@museum.test', '--name', 'ci')).errors, 'There is no user "nobody@')
  t.match(await type('token', 'add', me), { code: 2, errors: /--name is missing/ })
})

test('"token list" shows what is known of each token, and hides the hash', async t => {
  await type('token', 'add', me, '--name', 'ci', '--read-only', '--expires', '2099-12-31')
  await type('token', 'add', other, '--name', 'backup')
  await sql`update api_tokens set created_at = '2026-01-02 03:04:05Z', last_used_at = '2026-11-23T17:00Z' where id = 1`.execute(
    db,
  )
  const { output } = await type('token', 'list')
  const [heading, first, second] = output.split('\n')
  t.match(heading, /^id +name +user +may +expires +last used +created$/)
  t.match(first, /^1 +ci +me@museum\.test +read +2099-12-31 00:00 +2026-11-23 17:00 +2026-01-02 03:04$/)
  t.match(second, /^2 +backup +other@museum\.test +write +never +never +\d{4}-/)
  t.notMatch(output, String((await tokens())[0]?.hash))
  t.match((await type('token', 'list', me)).output, /^id [^\n]*\n1 [^\n]*\n$/)
  t.equal((await type('token', 'list', me, '--json')).output.split('\n').length, 2)
  t.match(JSON.parse((await type('token', 'list', me, '--json')).output), {
    id: '1',
    name: 'ci',
    user: me,
    read_only: true,
    expires_at: '2099-12-31T00:00:00.000Z',
    last_used_at: '2026-11-23T17:00:00.000Z',
    created_at: '2026-01-02T03:04:05.000Z',
  })
})

test('"token list" fits a terminal, and lists more tokens than one query reads', async t => {
  await sql`
    insert into api_tokens (user_id, name, hash)
    select (select min(id) from users), 'token ' || n, encode(sha256(n::text::bytea), 'hex')
    from generate_series(1, 1001) as n`.execute(db)
  const { output } = await runCommand(['token', 'list'], { openDatabase: keptOpen(database), terminals: ['output'] })
  const lines = output.trimEnd().split('\n')
  t.equal(lines.length, 1002)
  t.ok(lines.every(({ length }) => length <= 80))
})

test('"token list" of nobody prints nothing', async t => {
  t.match(await type('token', 'list'), { code: 0, output: '' })
  t.match(await type('token', 'list', 'nobody@museum.test'), { code: 1, output: '' })
})

test('"token revoke" takes a name or an id', async t => {
  await type('token', 'add', me, '--name', 'ci')
  await type('token', 'add', me, '--name', 'backup')
  t.match(await type('token', 'revoke', 'ci'), { code: 0, output: `Revoked the token "ci" of ${me}.\n` })
  t.strictSame(JSON.parse((await type('token', 'revoke', '2', '--json')).output), { id: '2', name: 'backup', user: me })
  t.strictSame(await tokens(), [])
  t.match(await type('token', 'revoke', 'ci'), { code: 1, errors: 'portico: There is no token "ci".\n' })
})

test('"token revoke" asks which of several tokens is meant', async t => {
  for (const user of [me, other]) await type('token', 'add', user, '--name', 'ci')
  t.match(await type('token', 'revoke', 'ci'), {
    code: 1,
    output: '',
    errors: `portico: There are several tokens "ci": 1 ("ci" of ${me}), 2 ("ci" of ${other}). Use an id, or --user.\n`,
  })
  t.equal((await type('token', 'revoke', 'ci', '--user', other.toUpperCase())).code, 0)
  t.match(await tokens(), [{ id: '1' }])
  t.match((await type('token', 'revoke', 'ci', '--user', other)).errors, `There is no token "ci" of ${other}.`)
})

test('"user password --link" without a license says that no site could show it', async t => {
  await sql`delete from licenses`.execute(db)
  t.match(await type('user', 'password', me, '--link'), {
    code: 1,
    output: '',
    errors: 'portico: There is no license, so no site can show the link.\n',
  })
})

t.test('The link to choose a password', async t => {
  await addLicense(database, { domain: 'typeless.test', type: null })
  await addLicense(database, { domain: 'localhost' })
  const second = await addLicense(database, { domain: 'second.test' })
  await addUser(database, { email: 'member@museum.test', licenses: [second] })

  async function originFor(email: string, ...words: string[]): Promise<string> {
    const { output, errors } = await runCommand(['user', 'password', email, '--link', ...words], {
      openDatabase: keptOpen(database),
      port: 4000,
    })
    return output === '' ? errors : new URL(output).origin
  }

  t.test("leads to the first site of the user's groups, or to the first of all", async t => {
    t.equal(await originFor('member@museum.test'), 'https://second.test')
    t.equal(await originFor(me), 'http://localhost:4000')
    t.match((await type('user', 'password', me, '--link')).output, /^http:\/\/localhost:3000\/password\/reset\?token=/)
  })

  for (const [host, origin] of [
    ['second.test', 'https://second.test'],
    ['SECOND.test:8443', 'https://second.test:8443'],
    ['http://second.test', 'http://second.test'],
    ['https://localhost', 'https://localhost'],
    ['localhost:5000', 'http://localhost:5000'],
  ] as const) {
    t.test(`may lead to ${host}`, async t => {
      t.equal(await originFor(me, '--host', host), origin)
    })
  }

  for (const host of ['unknown.test', 'typeless.test', '', 'http://', 'a b', 'second.test/path', 'ftp://second.test']) {
    t.test(`leads to no host that is not licensed: "${host}"`, async t => {
      t.equal(await originFor(me, `--host=${host}`), `portico: There is no license for "${host}".\n`)
    })
  }

  t.test('is printed as JSON, too', async t => {
    t.match(JSON.parse((await type('user', 'password', me, '--link', '--json')).output), { user: me, link: /^http:/ })
  })

  t.test('needs --link', async t => {
    t.match(await type('user', 'password', me, '--host', 'second.test'), { code: 2, errors: /--host needs --link/ })
  })
})
