import Fastify from 'fastify'
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'

interface Tables {
  'pg_catalog.pg_type': { typname: string; typlen: number }
}

/** TypeScript, run by tsx, with kysely. */
const app = Fastify({ logger: { level: 'warn' } })
const db = new Kysely<Tables>({
  dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: process.env['POSTGRES_URL'], max: 2 }) }),
})

app.get('/types', async () => {
  return db.selectFrom('pg_catalog.pg_type').select('typname').limit(2).execute() // query
})

app.get<{ Params: { name: string } }>('/types/:name', async request => {
  // Not awaited at once.
  const type = db
    .selectFrom('pg_catalog.pg_type')
    .selectAll()
    .where('typname', '=', request.params.name)
    .executeTakeFirst() // query
  const now = sql`select now() as at`.execute(db) // query
  return { type: (await type)?.typname ?? null, at: (await now).rows.length }
})

app.post('/moves', async () => {
  return db.transaction().execute(async trx => {
    const one = await sql<{ one: number }>`select 1 as one`.execute(trx) // query
    return one.rows
  })
})

console.log(await app.listen({ port: Number(process.env['PORT']) }))
