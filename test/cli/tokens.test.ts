import t, { type Test } from 'tap'
import { sql } from 'kysely'
import { addLicense, addUser, openTestDatabase } from '../support/site.ts'
import { commandsOn } from '../support/run-command.ts'

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
  const { code, output, errors } = await type('token add --user ME@museum.test --name ci')
  t.equal(code, 0)
  t.match(output, /^portico_[\w-]{43}\n$/)
  t.equal(errors, 'Added the token "ci". It is not shown again:\n')
  const kept = await tokens()
  t.match(kept, [{ name: 'ci', hash: /^[0-9a-f]{64}$/, read_only: false, last_used_at: null, expires_at: null }])
  t.equal(kept.length, 1)
  t.notMatch(JSON.stringify(kept), output.trim().replace('portico_', ''))
})

test('"token add --json" prints the token with what is known of it', async t => {
  t.match(await json(`token add --user ${me} --name ci --read-only --expires-at 2099-12-31T00:00:00Z`), [
    { id: '1', user: me, name: 'ci', read_only: true, expires_at: '2099-12-31T00:00:00.000Z', token: /^portico_/ },
  ])
})

test('a user has one token of a name, and others may have another', async t => {
  await print(`token add --user ${me} --name ci`)
  t.equal(await refusal(`token add --user ${me} --name ci`), 'Another token has this name.')
  await print(`token add --user ${other} --name ci`)
})

test('"token list" shows what is known of each token, and hides the hash', async t => {
  await print(`token add --user ${me} --name ci --read-only`)
  const output = await print('token list')
  t.match(
    output,
    /^id +name +user +read_only +expires_at +last_used_at +created_at\n1 +ci +me@museum\.test +true +\d{4}-/,
  )
  t.notMatch(output, String((await tokens())[0]?.hash))
  t.match(await json('token list --name ci'), [{ id: '1', name: 'ci', user: me, read_only: true, last_used_at: null }])
})

test('"token revoke" takes a name or an id, and asks which of several is meant', async t => {
  for (const user of [me, other]) await print(`token add --user ${user} --name ci`)
  t.equal(await refusal('token revoke ci'), 'There are several tokens "ci". Use an id such as 1 or 2.')
  t.equal(await print('token revoke 1'), 'Revoked the token "ci" (id 1).\n')
  t.match(await json('token revoke ci'), [{ id: '2', name: 'ci', user: other }])
  t.strictSame(await tokens(), [])
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
