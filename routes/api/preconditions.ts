import type { IncomingHttpHeaders } from 'node:http'
import { PreconditionFailedHttpError } from '../../src/errors/http-errors.ts'
import { matches, matchesWeakly } from '../../src/http/etag.ts'

/**
 * Holds a request to what it says of the current representation (RFC 9110, section 13.2.2). Whether a GET's answer is
 * unchanged is no concern of this: plugins/caching.ts says so.
 * @throws {PreconditionFailedHttpError}
 */
export function assertPreconditions(headers: IncomingHttpHeaders, isRead: boolean, etag: string): void {
  const match = headers['if-match']
  if (match !== undefined && !matches(match, etag)) {
    throw new PreconditionFailedHttpError(
      `If-Match names another state of this than the current one, which is ${etag}.`,
    )
  }
  const noneMatch = headers['if-none-match']
  if (!isRead && noneMatch !== undefined && matchesWeakly(noneMatch, etag)) {
    throw new PreconditionFailedHttpError(`If-None-Match names the current state of this, ${etag}.`)
  }
}
