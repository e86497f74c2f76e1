import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { sql } from 'kysely'
import { addLicense, addUser } from '../support/records.ts'
import { commandsOn } from '../support/run-command.ts'
import { openTestDatabase } from '../support/test-database.ts'

const me = 'me@museum.test'
const other = 'other@museum.test'
const database = await openTestDatabase(t)
const { db } = database
await db.deleteFrom('licenses').execute()
await addUser(database, { email: me })
await addUser(database, { email: other })
const { type, json, print, refusal } = commandsOn(database)

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

test('"token add" prints the token alone, and stores its hash only', async t => {
  const { code, output, errors } = await type('token add ME@museum.test --name ci')
  t.equal(code, 0)
  t.match(output, /^portico_[\w-]{43}\n$/)
  t.equal(errors, `Added the token "ci" of ${me}. It is not shown again:\n`)
  const kept = await tokens()
  t.match(kept, [{ name: 'ci', hash: /^[0-9a-f]{64}$/, read_only: false, last_used_at: null, expires_at: null }])
  t.equal(kept.length, 1)
  t.notMatch(JSON.stringify(kept), output.trim().replace('portico_', ''))
})

test('"token add --json" prints the token with what is known of it', async t => {
  t.match(await json(`token add ${me} --name ci --read-only --expires 2099-12-31`), [
    { id: '1', user: me, name: 'ci', read_only: true, expires_at: '2099-12-31T00:00:00.000Z', token: /^portico_/ },
  ])
})

test("a token may end after some days by the database's clock", async t => {
  const day = 24 * 60 * 60 * 1000
  const began = Date.now()
  mock.timers.enable({ apis: ['Date'], now: began - 365 * day })
  const { code, output } = await type(`token add ${me} --name ci --expires 90d --json`)
  mock.timers.reset()
  t.equal(code, 0)
  const [token] = await tokens()
  t.ok(Number(token?.expires_at) >= began + 90 * day && Number(token?.expires_at) <= Date.now() + 90 * day)
  t.match(JSON.parse(output), { expires_at: token?.expires_at?.toISOString() })
})

test('a user has one token of a name, and others may have another', async t => {
  await print(`token add ${me} --name ci`)
  t.equal(await refusal(`token add ${me} --name ci`), `${me} already has a token "ci".`)
  await print(`token add ${other} --name ci`)
})

test('"token list" shows what is known of each token, and hides the hash', async t => {
  await print(`token add ${me} --name ci --read-only --expires 2099-12-31`)
  await print(`token add ${other} --name backup`)
  await sql`update api_tokens set created_at = '2026-01-02 03:04:05Z', last_used_at = '2026-11-23T17:00Z' where id = 1`.execute(
    db,
  )
  const output = await print('token list')
  const [heading, first, second] = output.split('\n')
  t.match(heading, /^id +name +user +may +expires +last used +created$/)
  t.match(first, /^1 +ci +me@museum\.test +read +2099-12-31 00:00 +2026-11-23 17:00 +2026-01-02 03:04$/)
  t.match(second, /^2 +backup +other@museum\.test +write +never +never +\d{4}-/)
  t.notMatch(output, String((await tokens())[0]?.hash))
  t.match(await print(`token list ${me}`), /^id [^\n]*\n1 [^\n]*\n$/)
  t.strictSame(await json(`token list ${me}`), [
    {
      id: '1',
      name: 'ci',
      user: me,
      read_only: true,
      expires_at: '2099-12-31T00:00:00.000Z',
      last_used_at: '2026-11-23T17:00:00.000Z',
      created_at: '2026-01-02T03:04:05.000Z',
    },
  ])
})

test('"token list" fits a terminal, and lists more tokens than one query reads', async t => {
  await sql`
    insert into api_tokens (user_id, name, hash)
    select (select min(id) from users), 'token ' || n, encode(sha256(n::text::bytea), 'hex')
    from generate_series(1, 1001) as n`.execute(db)
  const lines = (await print('token list', { terminals: ['output'] })).trimEnd().split('\n')
  t.equal(lines.length, 1002)
  t.ok(lines.every(({ length }) => length <= 80))
})

test('"token list" of nobody prints nothing', async t => {
  t.equal(await print('token list'), '')
})

test('"token revoke" takes a name or an id', async t => {
  await print(`token add ${me} --name ci`)
  await print(`token add ${me} --name backup`)
  t.equal(await print('token revoke ci'), `Revoked the token "ci" of ${me}.\n`)
  t.strictSame(await json('token revoke 2'), [{ id: '2', name: 'backup', user: me }])
  t.strictSame(await tokens(), [])
})

test('"token revoke" asks which of several tokens is meant', async t => {
  for (const user of [me, other]) await print(`token add ${user} --name ci`)
  t.equal(
    await refusal('token revoke ci'),
    `There are several tokens "ci": 1 ("ci" of ${me}), 2 ("ci" of ${other}). Use an id, or --user.`,
  )
  await print(`token revoke ci --user ${other.toUpperCase()}`)
  t.match(await tokens(), [{ id: '1' }])
  t.match((await type(`token revoke ci --user ${other}`)).errors, `There is no token "ci" of ${other}.`)
})

test('"user password --link" without a license says that no site could show it', async t => {
  t.equal(await refusal(`user password ${me} --link`), 'There is no license, so no site can show the link.')
})

t.test('The link to choose a password', async t => {
  await addLicense(database, { domain: 'typeless.test', type: null })
  await addLicense(database, { domain: 'localhost' })
  const second = await addLicense(database, { domain: 'second.test' })
  await addUser(database, { email: 'member@museum.test', licenses: [second] })

  for (const [words, origin] of [
    ['member@museum.test', 'https://second.test'],
    [me, 'http://localhost:4000'],
    [`${me} --host second.test`, 'https://second.test'],
    [`${me} --host SECOND.test:8443`, 'https://second.test:8443'],
    [`${me} --host http://second.test`, 'http://second.test'],
    [`${me} --host https://localhost`, 'https://localhost'],
    [`${me} --host localhost:1`, 'http://localhost:1'],
    [`${me} --host localhost:65535`, 'http://localhost:65535'],
    [`${me} --host http://localhost:80`, 'http://localhost'],
  ] as const) {
    t.test(`leads to ${origin}, asked for by "${words}"`, async t => {
      t.equal(new URL(await print(`user password ${words} --link`, { port: 4000 })).origin, origin)
    })
  }

  t.test('has a token, and the port of a server that is not known', async t => {
    const link = /^http:\/\/localhost:3000\/password\/reset\?token=[\w-]{43}$/
    t.match((await print(`user password ${me} --link`)).trimEnd(), link)
    t.match(await json(`user password ${me} --link`), [{ user: me, link }])
  })

  t.test('leads to no site whose license has no type', async t => {
    const reason = await refusal(`user password ${me} --link --host typeless.test`)
    t.equal(reason, 'There is no license for "typeless.test".')
  })
})
