import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import type { DatabaseData } from '../../../plugins/debug/panels/database.ts'
import { makeFolder } from '../../folder.ts'
import { heardOf } from '../../heard.ts'
import { addLicense } from '../../records.ts'
import { openTestDatabase } from '../../test-database.ts'
import { buildDebugged, panelOf } from './panels/panels.ts'

const database = await openTestDatabase(t)
const { db } = database
await addLicense(database, { domain: 'museum.test' })
const planted = 'planted-hunter2-secret'

const statements: Record<string, () => Promise<unknown>> = {
  'a condition': () => db.selectFrom('users').select('id').where('password_hash', '=', planted).execute(),
  'an insertion': () => db.insertInto('users').values({ email: 'someone@museum.test', password_hash: planted }).execute(),
  'a change': () => db.updateTable('users').set({ password_hash: planted }).where('email', '=', 'nobody@museum.test').execute(),
  'a list': () => sql`select 1 as session_token where 'x' = any(${[planted]})`.execute(db),
  'a literal': () => sql`select ${sql.lit(planted)} as secret`.execute(db),
  'a literal with a quote': () => sql`select ${sql.lit(`it's ${planted}`)} as api_key`.execute(db),
  'a large list of parameters': () => sql`select 1 as pin where 'x' in (${sql.join(Array.from({ length: 600 }, () => planted))})`.execute(db)
}

async function routes (app: FastifyInstance) {
  app.get<{ Params: { name: string } }>('/:name', async ({ params }) => {
    await statements[params.name]?.()
    return 'done'
  })
  app.get('/failing', async (request, reply) => {
    const error: unknown = await sql`select ${1}::int, ${''}::text, ${planted}::int as token`.execute(db).catch((error: unknown) => error)
    request.log.error(error)
    request.recorder?.exception(error)
    return reply.send('handled')
  })
}

const dataDir = makeFolder(t)
const app = await buildDebugged(t, { database, routes, environment: { DATA_DIR: dataDir } })

/** Everything that can be read of a request: its profile in each form, and the files. */
async function everything (token: string): Promise<string> {
  const forms = ['application/json', 'text/html', 'text/markdown']
  const panels = ['database', 'performance', 'logs', 'exception', 'request']
  const pages = await Promise.all(forms.flatMap(accept => panels.map(panel => app.inject({ url: `/_profiler/${token}?panel=${panel}`, headers: { accept } }))))
  const folder = join(dataDir, 'profiles')
  return [...pages.map(({ body }) => body), ...readdirSync(folder).map(file => readFileSync(join(folder, file), 'utf8'))].join('\n')
}

for (const name of [...Object.keys(statements), 'failing']) {
  t.test(`a secret in the SQL of ${name} appears nowhere`, async t => {
    const response = await app.inject({ url: `/${encodeURIComponent(name)}`, headers: { host: 'museum.test' } })
    t.equal(response.statusCode, 200)
    const { queries, count } = await panelOf<DatabaseData>(app, response, 'database')
    t.ok(count > 0)
    t.ok(queries.some(({ sql, parameters }) => `${sql} ${parameters.join()}`.includes('[masked]')))
    t.notMatch(await everything(String(response.headers['x-debug-token'])), planted)
  })
}

t.test('parameters of other statements are shown', async t => {
  await heardOf(database, () => addLicense(database, { domain: 'other.test' }))
  const response = await app.inject({ url: '/other', headers: { host: 'other.test' } })
  const { queries } = await panelOf<DatabaseData>(app, response, 'database')
  t.match(queries, [{ parameters: ['["other.test"]', '1'] }])
})

t.test('the secrets that sign cookies are masked wherever they turn up', async t => {
  const secret = 'a-signing-secret-of-forty-characters-or-so'
  const app = await buildDebugged(t, { database, environment: { COOKIE_SECRET: secret } })
  const response = await app.inject({ url: `/?note=${secret}`, headers: { host: 'museum.test' } })
  t.notMatch((await app.inject(`/_profiler/${response.headers['x-debug-token']}`)).body, secret)
})
