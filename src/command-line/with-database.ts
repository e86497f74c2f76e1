import type { Database } from '../database/database.ts'
import type { Terminal } from './command.ts'

/** Does something with the database, and closes it however that ends. */
export async function withDatabase<Result>(
  terminal: Terminal,
  act: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = await terminal.openDatabase()
  try {
    return await act(database)
  } finally {
    await database.close()
  }
}
