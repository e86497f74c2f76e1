import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'

/** Makes a change and returns all notifications of it. A later notification marks the end, as they arrive in order. */
export async function heardOf({ db, changes }: Database, change: () => Promise<unknown>): Promise<string[]> {
  const heard: string[] = []
  const ended = new Promise<void>(resolve => {
    changes.on('change', function hear(table, key) {
      if (table === 'the_end') {
        changes.off('change', hear)
        resolve()
      } else heard.push(key === null ? table : `${table} ${key}`)
    })
  })
  await change()
  await sql`notify portico_changes, 'the_end'`.execute(db)
  await ended
  return heard.sort()
}

/** Waits until every change so far has been heard. One heard later would drop what a cache has just loaded. */
export async function hearAll(database: Database): Promise<void> {
  await heardOf(database, async () => {})
}
