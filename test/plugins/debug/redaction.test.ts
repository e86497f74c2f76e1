import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import type { DatabaseUse } from 'fastify-profiler'
import { makeFolder } from '../../support/folder.ts'
import { addLicense, addUser, heardOf, openTestDatabase, signIn, testPassword } from '../../support/site.ts'
import { commandsOn } from '../../support/run-command.ts'
import { buildDebugged, panelOf, readPanels } from './panels/panels.ts'

const database = await openTestDatabase(t)
const { db } = database
await addLicense(database, { domain: 'museum.test' })
const planted = 'planted-hunter2-secret'

const sessions = sql`(select 'x' as session_token, 'y' as visitor, '{}'::json as data) as sessions`

const statements: Record<string, () => Promise<unknown>> = {
  'a condition': () => db.selectFrom('users').select('id').where('password_hash', '=', planted).execute(),
  'an insertion': () =>
    db.insertInto('users').values({ email: 'someone@museum.test', password_hash: planted }).execute(),
  'a change': () =>
    db.updateTable('users').set({ password_hash: planted }).where('email', '=', 'nobody@museum.test').execute(),
  'a list': () => sql`select 1 from ${sessions} where session_token = any(${[planted]})`.execute(db),
  'a literal': () => sql`select ${sql.lit(planted)} as secret`.execute(db),
  'a literal with a quote': () => sql`select ${sql.lit(`it's ${planted}`)} as api_key`.execute(db),
  'a literal with escapes': () => sql`select ${sql.raw(`E'it\\'s ${planted}'`)} as secret`.execute(db),
  'a literal between dollar signs': () => sql`select ${sql.raw(`$tag$it's ${planted}$tag$`)} as secret`.execute(db),
  'a large list of parameters': () =>
    sql`select 1 from ${sessions} where session_token in (${sql.join(Array.from({ length: 600 }, () => planted))})`.execute(
      db,
    ),
}

async function routes(app: FastifyInstance) {
  app.get<{ Params: { name: string } }>('/:name', async ({ params }) => {
    await statements[params.name]?.()
    return 'done'
  })
  app.get('/failing', async (request, reply) => {
    const error: unknown = await sql`select ${1}::int, ${''}::text as secret, ${planted}::int as token`
      .execute(db)
      .catch((error: unknown) => error)
    request.log.error(error)
    request.recorder?.exception(error)
    return reply.send('handled')
  })
}

const dataDir = makeFolder(t)
const app = await buildDebugged(t, { database, routes, environment: { DATA_DIR: dataDir } })

/** Everything that can be read about a request: its profile in each format and export, and the files. */
async function everything(response: LightMyRequestResponse): Promise<string> {
  const token = String(response.headers['x-debug-token'])
  const exports = ['curl', 'har', 'file'].map(name => app.inject(`/_profiler/${token}/${name}`))
  const folder = join(dataDir, 'profiles')
  return [
    await readPanels(app, response),
    ...(await Promise.all(exports)).map(({ body, statusCode }) => {
      assert.equal(statusCode, 200)
      return body
    }),
    ...readdirSync(folder).map(file => readFileSync(join(folder, file), 'utf8')),
  ].join('\n')
}

for (const name of [...Object.keys(statements), 'failing']) {
  t.test(`a secret in the SQL of ${name} appears nowhere`, async t => {
    const response = await app.inject({ url: `/${encodeURIComponent(name)}`, headers: { host: 'museum.test' } })
    t.equal(response.statusCode, 200)
    const { queries, count } = await panelOf<DatabaseUse>(app, response, 'database')
    t.ok(count > 0)
    t.ok(queries.some(({ sql, parameters }) => `${sql} ${parameters.join()}`.includes('[masked]')))
    t.notMatch(await everything(response), planted)
  })
}

const typed = { current_password: testPassword, password: 'planted-new-word', repeated_password: 'planted-new-word' }
const changes: Record<string, [fields: Partial<typeof typed>, status: number, statusOfLink: number]> = {
  'a wrong current password': [{ current_password: 'planted-wrong-word' }, 403, 200],
  'a different repetition': [{ repeated_password: 'planted-other-word' }, 400, 400],
  'a change of the password': [{}, 200, 200],
}
let typists = 0

for (const [what, [fields, status, statusOfLink]] of Object.entries(changes)) {
  for (const type of ['application/json', 'application/x-www-form-urlencoded']) {
    /** Types passwords into a form and asserts that none of them can be read. */
    const assertMasked = async (t: Test, url: string, status: number, cookie: string, token: string) => {
      const body = { ...typed, ...fields, token }
      const isJson = type === 'application/json'
      const response = await app.inject({
        method: 'POST',
        url,
        headers: { host: 'museum.test', cookie, accept: 'text/html', 'content-type': type },
        payload: isJson ? JSON.stringify(body) : new URLSearchParams(body).toString(),
      })
      t.equal(response.statusCode, isJson && status === 200 ? 204 : status)
      const shown = await everything(response)
      t.match(shown, 'repeated_password')
      for (const value of [...Object.values(body), 'correct+horse+battery']) t.notMatch(shown, value)
    }

    t.test(`${what}, sent as ${type}, shows no typed password`, async t => {
      const email = `typist-${typists++}@museum.test`
      await addUser(database, { email })
      const cookie = await signIn(app, { host: 'museum.test', email })
      await assertMasked(t, '/password', status, cookie, 'planted-token')
    })

    t.test(`${what} by a link, sent as ${type}, shows no typed password`, async t => {
      const email = `typist-${typists++}@museum.test`
      await addUser(database, { email })
      const link = new URL(await commandsOn(database).print(`user password ${email} --link`))
      const opened = await app.inject({ url: link.pathname + link.search, headers: { host: 'museum.test' } })
      t.notMatch(await everything(opened), String(link.searchParams.get('token')))
      await assertMasked(t, '/password/reset', statusOfLink, '', link.searchParams.get('token') ?? '')
    })
  }
}

/** A parameter whose value is "secret" must be masked. Whether a statement fails does not matter. */
const bindings: Record<string, ReturnType<typeof sql>> = {
  'a selected column': sql`select password_hash from users where id = ${1}`,
  'another condition': sql`select 1 from ${sessions} where visitor = ${'shown'} and session_token = ${'secret'} limit ${7}`,
  'a range': sql`select 1 from ${sessions} where session_token between ${'secret'} and ${'secret'} or visitor between ${'shown'} and ${'shown'}`,
  'rows of an insertion': sql`insert into users (email, password_hash) values (${'shown'}, ${'secret'}), (lower(${'shown'}), crypt(${'secret'}, 'x')) on conflict (email) do update set password_hash = ${'secret'}, email = ${'shown'} where users.email = ${'shown'}`,
  'an inserted selection': sql`insert into users (email, password_hash) select ${'shown'}, ${'secret'} from users where email = ${'shown'}`,
  'a selection within a row': sql`insert into users (email, password_hash) values ((select ${'shown'}::text), ${'secret'})`,
  'a parameter before its column': sql`select 1 from ${sessions} where ${'secret'} = session_token and ${'shown'} = visitor`,
  'an alias': sql`select ${'shown'}::text as title, ${'secret'}::text as api_key`,
  'a table named like a secret': sql`select 1 from ${sessions} where sessions.visitor = ${'shown'} and "sessions"."session_token" = ${'secret'}`,
  'a field of JSON': sql`select 1 from ${sessions} where data ->> 'password' = ${'secret'} and data ->> 'title' = ${'shown'}`,
  'a subquery': sql`select 1 from ${sessions} where session_token in (select email from users where email = ${'shown'}) and visitor = ${'shown'}`,
  'a second insertion': sql`with i as (insert into museums (a_id, name) values (${'shown'}, ${'shown'})) insert into users (email, password_hash) values (${'shown'}, ${'secret'})`,
  'an insertion of whole rows': sql`insert into users (email, password_hash) select * from unnest(${'secret'}::text[], ${'secret'}::text[])`,
  'an insertion of whole rows that begin with it': sql`insert into users (password_hash, email) select * from unnest(${'secret'}::text[], ${'secret'}::text[])`,
  'a change from values': sql`update users u set password_hash = v.p from (values (${'secret'}, ${'secret'})) as v(id, p) where u.email = v.id`,
  'a change from a column of the same name': sql`update users u set email = (select 'x' limit 1), password_hash = v.password_hash from (values (${'secret'})) as v(password_hash)`,
  'a change by a subquery': sql`update users set password_hash = (select lower(${'secret'}))`,
  'a change to nothing': sql`update users set password_hash = null where email = ${'shown'} and email like ${'shown'}`,
  'a change to what was to be inserted': sql`insert into users (email) values (${'shown'}) on conflict (email) do update set password_hash = excluded.password_hash where users.email = ${'shown'}`,
  'a selection beside a column': sql`select "email", "password_hash" from "users" where "email" = ${'shown'}`,
  comments: sql`select /* password */ 1 -- token
    where ${'shown'} = ${'shown'}`,
}

const bound = await buildDebugged(t, {
  database,
  async routes(app) {
    app.get<{ Params: { name: string } }>(
      '/:name',
      async ({ params }) => await bindings[params.name]?.execute(db).then(() => 'done', String),
    )
    app.get('/many', async () => {
      for (let number = 0; number < 510; number++) {
        await sql`select ${sql.lit(number)} as id, ${number}::int as other`.execute(db)
      }
      return await sql`select ${planted}::text as secret`.execute(db)
    })
    app.get(
      '/long',
      async () => await sql`select ${sql.lit('x'.repeat(12_000))} as id, ${planted}::text as secret`.execute(db),
    )
  },
})

for (const [name, statement] of Object.entries(bindings)) {
  t.test(`parameters are masked by the column they are bound to: ${name}`, async t => {
    const response = await bound.inject({ url: `/${name}`, headers: { host: 'museum.test' } })
    const { queries } = await panelOf<DatabaseUse>(bound, response, 'database')
    const parameters = statement.compile(db).parameters.map(value => (value === 'secret' ? '[masked]' : value))
    t.match(
      queries.find(({ sql }) => sql?.startsWith(statement.compile(db).sql.slice(0, 20))),
      { parameters },
    )
  })
}

for (const [what, path, panel] of [
  ['beyond the limit of the cache', 'many', 'performance'],
  ['too long for the cache', 'long', 'database'],
]) {
  t.test(`a statement ${what} is still parsed`, async t => {
    const response = await bound.inject({ url: `/${path}`, headers: { host: 'museum.test' } })
    t.equal(response.statusCode, 200)
    t.notMatch((await bound.inject(`/_profiler/${response.headers['x-debug-token']}?panel=${panel}`)).body, planted)
  })
}

t.test('the parameters of other statements are shown', async t => {
  await heardOf(database, () => addLicense(database, { domain: 'other.test' }))
  const response = await app.inject({ url: '/other', headers: { host: 'other.test' } })
  const { queries } = await panelOf<DatabaseUse>(app, response, 'database')
  t.match(queries, [{ parameters: [['other.test'], 1] }])
})

t.test('the secrets that sign cookies are masked wherever they appear', async t => {
  const secret = 'a-signing-secret-of-forty-characters-or-so'
  const app = await buildDebugged(t, { database, environment: { COOKIE_SECRET: secret } })
  const response = await app.inject({ url: `/?note=${secret}`, headers: { host: 'museum.test' } })
  t.notMatch((await app.inject(`/_profiler/${response.headers['x-debug-token']}`)).body, secret)
})
