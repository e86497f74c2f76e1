import type { Database } from '../src/database/database.ts'

/** Resolves when the database tells of a change of the rows under this key. Call it before the change is made. */
export function nextChange ({ changes }: Database, table: string, key: string | null): Promise<void> {
  return new Promise(resolve => {
    changes.on('change', function heed (changedTable, changedKey) {
      if (changedTable !== table || changedKey !== key) return
      changes.off('change', heed)
      resolve()
    })
  })
}
