import pg from 'pg'
import { ServiceUnavailableHttpError } from '../errors/http-errors.ts'

/** What pg says of a query that the server did not answer in time. */
const unanswered = 'Query read timeout'

/** In seconds: when somebody who is refused may try again. */
const retryAfter = 2

/** Whether a server answered so that is there, and neither ends nor begins; a proxy without one is none (PostgreSQL's manual, appendix A). */
export function isAnswer(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(?:08|57P)/.test(String(error.code))
}

/** Whether no answer came in time, or none will come any more. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof pg.DatabaseError ? !isAnswer(error) : error instanceof Error && error.message === unanswered
}

/** Whether a server says it of itself, and not of what it was asked: of its resources, of an operator's intervention, that it is read-only. */
export function isCondition(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(?:08|53|57)|^25006$/.test(String(error.code))
}

/** What a request is refused with that the database cannot be asked for, for this reason. */
export function unavailable(cause: unknown): ServiceUnavailableHttpError {
  return new ServiceUnavailableHttpError('This site cannot be served for the moment.', retryAfter, { cause })
}
