import { type RawBuilder, sql } from 'kysely'
import { formats } from '../src/records/validation.ts'
import { UsageError } from './command.ts'

/** In days. */
const longest = 36_500

const dayLength = 24 * 60 * 60 * 1000

/**
 * Reads when something ends: days from the database's now (90d), or the beginning of a day in UTC (2027-01-31).
 * @throws {UsageError} if the text is neither, or the time has passed or is further away than a century
 */
export function readExpiry(text: string): Date | RawBuilder<Date> {
  const days = /^[1-9]\d{0,4}d$/.test(text) ? Number.parseInt(text) : (beginningOf(text) - Date.now()) / dayLength
  if (!(days > 0 && days <= longest)) {
    throw new UsageError(
      '--expires must be a number of days such as 90d or a day in the future such as 2027-01-31, within a century.',
    )
  }
  return text.endsWith('d') ? sql<Date>`now() + ${days} * interval '24 hours'` : new Date(beginningOf(text))
}

/** NaN if there is no such day. */
function beginningOf(day: string): number {
  return !day.includes('T') && formats.moment.accepts(day) ? Date.parse(day) : NaN
}
