import type { Database, DatabaseOptions } from '../src/database/database.ts'
import { describeNewer } from '../src/database/newer-migrations.ts'
import type { Terminal } from './command.ts'
import { writeWarning } from './record-output.ts'

/** Opens the database for an action and closes it afterwards, even if the action fails. */
export async function withDatabase<Result>(
  terminal: Terminal,
  act: (database: Database) => Promise<Result>,
  options?: Pick<DatabaseOptions, 'onCreation'>,
): Promise<Result> {
  const database = await terminal.openDatabase(options)
  try {
    if (database.newer.length > 0) writeWarning(terminal, describeNewer(database.newer))
    return await act(database)
  } finally {
    await database.close()
  }
}

/** For commands that only read: a database that they had to create would be the demonstration, taken for a backup. */
export const existing = {
  onCreation: () => {
    throw new Error('it does not exist')
  },
}
