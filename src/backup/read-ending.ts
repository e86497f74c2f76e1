import { formats } from '../records/formats.ts'
import { type Ending, isObject } from './backup-format.ts'
import { RestoreRefusedError } from './restore-refused.ts'

/**
 * Reads a line that is not a record.
 * @throws {RestoreRefusedError} if it is not the ending of an export, either
 */
export function readEnding(line: number, value: unknown): Ending {
  if (!isEnding(value)) throw new RestoreRefusedError(line, 'The line is neither a record nor the end of an export.')
  return value
}

function isEnding(value: unknown): value is Record<string, unknown> & Ending {
  if (!isObject(value)) return false
  const { counts, next_ids: nextIds } = value
  return (
    isObject(counts) &&
    Object.values(counts).every(Number.isSafeInteger) &&
    isObject(nextIds) &&
    Object.values(nextIds).every(id => typeof id === 'string' && formats.id.accepts(id))
  )
}
