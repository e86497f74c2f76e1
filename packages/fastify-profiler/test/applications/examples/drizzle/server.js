import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { pgTable, text } from 'drizzle-orm/pg-core'
import { drizzle as drizzlePostgresJs } from 'drizzle-orm/postgres-js'
import Fastify from 'fastify'
import pg from 'pg'
import postgres from 'postgres'

const types = pgTable('pg_type', { name: text('typname') })

/** ESM with drizzle, whose builders run when they are awaited. */
const app = Fastify()
const pool = new pg.Pool({ connectionString: process.env.POSTGRES_URL })
const db = drizzle(pool)
const tag = postgres(process.env.POSTGRES_URL)
const other = drizzlePostgresJs(tag)

app.get('/types', async () => {
  return await db.select().from(types).limit(2) // query
})
app.get('/now', async () => {
  const result = await db.execute(sql`select now() as at`) // query
  return { rows: result.rows.length }
})
app.get('/postgres-js', async () => {
  const [type] = await other.select().from(types).limit(1) // query
  return await tag`select ${type.name} as name, count(*)::int from pg_type` // query
})

console.log(await app.listen({ port: Number(process.env.PORT) }))
