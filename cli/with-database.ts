import type { Database, DatabaseOptions } from '../src/database/database.ts'
import { causeOf, isAnswer, isTransactionConflict, isUnanswered } from '../src/database/failures.ts'
import { describeNewer } from '../src/database/migrate.ts'
import { HttpError, ServiceUnavailableHttpError } from '../src/errors/http-errors.ts'
import { reasonOf } from '../src/errors/start-error.ts'
import type { Author } from '../src/records/audit.ts'
import { readVariables } from '../src/config.ts'
import { readSettings, type Settings } from '../src/settings.ts'
import { CommandError } from './command.ts'
import { type Terminal, writeWarning } from './terminal.ts'

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

/** The values of the settings that an application adds. @throws {StartError} if one is missing or invalid */
export function settingsOf({ additions }: Terminal): Settings {
  return readSettings(additions?.settings, readVariables(process.env, '.env'))
}

/** Who makes the changes of a command. */
export function commandAuthor({ systemUser }: Terminal): Author {
  return { via: 'command', user: null, tokenId: null, systemUser: systemUser ?? null }
}

/** Turns a refusal into a CommandError with the same message. @throws {CommandError} */
export async function unlessRefused<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act()
  } catch (error) {
    const isRefusal = error instanceof HttpError && !(error instanceof ServiceUnavailableHttpError)
    throw isRefusal ? new CommandError(error.message, { cause: error }) : error
  }
}

/**
 * Runs the transaction that a command consists of. If the database refuses it, the message says that nothing was kept.
 * @throws {CommandError} if the database or the rules of the records refuse it
 */
export async function allOrNothing<Result>(transaction: () => Promise<Result>): Promise<Result> {
  try {
    return await unlessRefused(transaction)
  } catch (error) {
    const cause = causeOf(error)
    if (isTransactionConflict(cause)) {
      const sentence = `Another change was in the way (${reasonOf(cause)}). This command changed no records: run it again.`
      throw new CommandError(sentence, { cause: error })
    }
    if (!isAnswer(cause)) throw error
    throw new CommandError(`${describeDatabaseFailure(cause)} This command changed no records.`, { cause: error })
  }
}

/** Says in a sentence that the database was lost or refused the command. Undefined if the error is another one. */
export function describeDatabaseFailure(error: unknown): string | undefined {
  const cause = causeOf(error)
  if (isAnswer(cause)) return `The database refused the command: ${reasonOf(cause)}.`
  return cause !== error || isUnanswered(cause) ? `The database was lost: ${reasonOf(cause)}.` : undefined
}
