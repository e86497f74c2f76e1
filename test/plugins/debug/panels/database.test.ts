import { sql } from 'kysely'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import type { DatabaseUse } from 'fastify-profiler'
import { addLicense, openTestDatabase } from '../../../support/site.ts'
import { buildDebugged, panelOf } from './panels.ts'

const database = await openTestDatabase(t)
const { db } = database
await addLicense(database, { domain: 'museum.test', museums: ['Louvre'] })
const coldDomains = ['one.test', 'two.test']
for (const domain of coldDomains) await addLicense(database, { domain })

async function routes(app: FastifyInstance) {
  const compiled = db.selectFrom('museums').select('name').limit(1).compile()
  app.get('/compiled', async () => {
    await db.executeQuery(compiled)
    await db.executeQuery(compiled)
  })
  app.get('/parameters', async () => {
    const [time, bytes, json] = [new Date(0), Buffer.from('bytes'), { some: ['json'] }]
    await sql`select ${1}::int, ${null}::text, ${time}::timestamptz, ${bytes}::bytea, ${json}::jsonb`.execute(db)
  })
  app.get('/large', async () => {
    await sql`select ${'x'.repeat(300_000)}::text`.execute(db)
    await sql`select ${JSON.stringify(Array(1000).fill(1))}::text, ${{ list: Array(1000).fill(1) }}::jsonb`.execute(db)
    await sql`select 1 where 1 in (${sql.join(Array.from({ length: 700 }, (_, n) => n))})`.execute(db)
    await sql`select ${'there is no room'}::text`.execute(db)
  })
  app.get('/unserialisable', async () => {
    const endless: Record<string, unknown> = {}
    endless['itself'] = endless
    await sql`select ${endless}::jsonb`.execute(db)
  })
  app.get('/none', async () => 'no query')
}

const app = await buildDebugged(t, { database, routes })
const ask = (url: string, host = 'museum.test') => app.inject({ url, headers: { host } })
// Caches licenses and languages, so that requests only send their own queries.
await ask('/none')

const queriesOf = async (url: string) => panelOf<DatabaseUse>(app, await ask(url), 'database')

t.test('parameters of every type are shown', async t => {
  const { queries } = await queriesOf('/parameters')
  t.strictSame(queries[0]?.parameters, [1, null, '1970-01-01T00:00:00.000Z', '[5 bytes]', { some: ['json'] }])
})

t.test('parameters that are too large or too many are only described', async t => {
  const { queries } = await queriesOf('/large')
  t.strictSame(queries[0]?.parameters, ['[300000 characters]'])
  t.match(queries[1]?.parameters, [/^\[1,1/, '[object of 2010 characters]'])
  t.match(queries[2]?.parameters.at(-1), '… (700 parameters)')
  t.strictSame(queries[3]?.parameters, ['… (1 parameters)'])
})

t.test('a parameter that cannot be serialised does not harm the profile', async t => {
  t.equal((await queriesOf('/unserialisable')).count, 1)
})

t.test('a query compiled in advance belongs to each request that sends it, with the line that sends it', async t => {
  for (let time = 0; time < 2; time++) {
    const { queries } = await queriesOf('/compiled')
    const lines = queries.map(({ location }) => Number(location?.line))
    t.strictSame(lines, [Number(lines[0]), Number(lines[0]) + 1])
  }
})

t.test('a query for several cold hosts is in the profile of the request that waited for it first', async t => {
  const responses = await Promise.all(coldDomains.map(domain => ask('/none', domain)))
  const panels = await Promise.all(responses.map(response => panelOf<DatabaseUse | null>(app, response, 'database')))
  const asked = panels.map(
    panel => panel?.queries.flatMap(({ parameters }) => [parameters[0]].flat().map(String)) ?? [],
  )
  t.strictSame(asked.flat().sort(), [...coldDomains].sort())
  for (const [place, domains] of asked.entries()) if (domains.length > 0) t.equal(domains[0], coldDomains[place])
})
