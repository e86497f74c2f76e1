import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { pgTable, text } from 'drizzle-orm/pg-core'
import Fastify from 'fastify'
import pg from 'pg'

const types = pgTable('pg_type', { name: text('typname') })

/** ESM with drizzle, whose builders run when they are awaited. */
export function build() {
  const app = Fastify()
  const pool = new pg.Pool({ connectionString: process.env.POSTGRES_URL })
  const db = drizzle(pool)
  app.addHook('onClose', async () => pool.end())

  app.get('/types', async () => {
    return await db.select().from(types).limit(2) // query
  })
  app.get('/now', async () => {
    const result = await db.execute(sql`select now() as at`) // query
    return { rows: result.rows.length }
  })
  return app
}
