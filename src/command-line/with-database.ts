import type { Database } from '../database/database.ts'
import type { Terminal } from './command.ts'

/** Opens the database for an action and closes it afterwards, even if the action fails. */
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
