import { formats } from '../records/formats.ts'
import { UsageError } from './command.ts'

/** In days. */
const longest = 36_500

const dayLength = 24 * 60 * 60 * 1000

/**
 * Reads when something ends: days from now (90d), or the beginning of a day in UTC (2027-01-31).
 * @throws {UsageError} if the text is neither, or the time has passed or is further away than a century
 */
export function readExpiry(text: string): Date {
  const now = Date.now()
  const time = /^[1-9]\d{0,4}d$/.test(text) ? now + Number.parseInt(text) * dayLength : beginningOf(text)
  if (!(time > now && time <= now + longest * dayLength)) {
    throw new UsageError(
      '--expires must be a number of days such as 90d or a day in the future such as 2027-01-31, within a century.',
    )
  }
  return new Date(time)
}

/** NaN if there is no such day. */
function beginningOf(day: string): number {
  return !day.includes('T') && formats.moment.accepts(day) ? Date.parse(day) : NaN
}
