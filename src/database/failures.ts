import pg from 'pg'
import { ServiceUnavailableHttpError } from '../errors/http-errors.ts'

/** pg's error message for a query that exceeded query_timeout. */
const unanswered = 'Query read timeout'

/** The Retry-After of a refused request, in seconds. */
const retryAfter = 2

/**
 * Whether a running server sent this error. A PANIC comes from a server that dies, class 08 from a proxy that has lost
 * its server, and 57P from a server that is starting or stopping (PostgreSQL's manual, appendix A).
 */
export function isAnswer(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.severity !== 'PANIC' && !/^(?:08|57P)/.test(String(error.code))
}

/** Whether the server did not answer in time, or is going away. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof pg.DatabaseError ? !isAnswer(error) : error instanceof Error && error.message === unanswered
}

/**
 * Whether the error is about the server's state and not about the query: its connection (class 08), its resources (53),
 * an operator's intervention (57), a read-only database (25006), or transactions that met.
 */
export function isCondition(error: unknown): boolean {
  return (
    isTransactionConflict(error) ||
    (error instanceof pg.DatabaseError && /^(?:08|53|57|25006$)/.test(String(error.code)))
  )
}

/** Whether the transaction met another one (a serialization failure or a deadlock) and was rolled back. */
export function isTransactionConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === '40001' || error.code === '40P01')
}

/** The driver's error, which `unavailable` may have wrapped. */
export function causeOf(error: unknown): unknown {
  return error instanceof ServiceUnavailableHttpError ? error.cause : error
}

/** Makes the 503 for a request that needs the database while it is unavailable. */
export function unavailable(cause: unknown): ServiceUnavailableHttpError {
  return new ServiceUnavailableHttpError('This site is temporarily unavailable.', retryAfter, { cause })
}

/** Makes the error of a database that has died, with PostgreSQL's code crash_shutdown. */
export function crashed(message: string): Error {
  return Object.assign(new Error(message), { code: '57P02' })
}
