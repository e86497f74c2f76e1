import { passThrough } from '#profiler/core/call-site'
import pg from 'pg'

// The profiler shows the caller of a query, which is never this file.
passThrough([import.meta.filename])

const listeners = new Set<(sql: string) => void>()
const { prototype } = pg.Client
const { query } = prototype

Reflect.set(prototype, 'query', function (this: pg.Client, ...args: unknown[]): unknown {
  const [first] = args
  const sql = typeof first === 'string' ? first : String(Reflect.get(Object(first), 'text'))
  for (const hear of listeners) hear(sql)
  return Reflect.apply(query, this, args)
})

/**
 * Calls back with every query that is sent to a database, of all connections of this process.
 * @returns a function that stops it
 */
export function hearQueries(hear: (sql: string) => void): () => void {
  listeners.add(hear)
  return () => {
    listeners.delete(hear)
  }
}
