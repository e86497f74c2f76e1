import { causeOf, isAnswer, isTransactionConflict, isUnanswered } from '../src/database/failures.ts'
import { reasonOf } from '../src/errors/start-error.ts'
import { CommandError } from './command.ts'
import { unlessRefused } from './record-fields.ts'

/** Says in a sentence that the database was lost or refused the command. Undefined if the error is another one. */
export function describeDatabaseFailure(error: unknown): string | undefined {
  const cause = causeOf(error)
  if (isAnswer(cause)) return `The database refused the command: ${reasonOf(cause)}.`
  return cause !== error || isUnanswered(cause) ? `The database was lost: ${reasonOf(cause)}.` : undefined
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
