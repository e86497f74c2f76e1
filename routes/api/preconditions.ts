import type { IncomingHttpHeaders } from 'node:http'
import { PreconditionFailedHttpError } from '../../src/errors/http-errors.ts'
import { etagOf, matches, matchesWeakly } from '../../src/http/etag.ts'
import type { AnyRecord } from '../../src/records/repository.ts'

/**
 * Checks If-Match and If-None-Match against the current ETag (RFC 9110, section 13.2.2). A GET that answers 304 is
 * handled by plugins/caching.ts.
 * @throws {PreconditionFailedHttpError} if a precondition is not met
 */
export function assertPreconditions(headers: IncomingHttpHeaders, isRead: boolean, etag: string): void {
  const match = headers['if-match']
  if (match !== undefined && !matches(match, etag)) {
    throw new PreconditionFailedHttpError(`If-Match does not match the current ETag, which is ${etag}.`)
  }
  const noneMatch = headers['if-none-match']
  if (!isRead && noneMatch !== undefined && matchesWeakly(noneMatch, etag)) {
    throw new PreconditionFailedHttpError(`If-None-Match matches the current ETag, ${etag}.`)
  }
}

export function etagOfRecord(record: AnyRecord): string {
  return etagOf(JSON.stringify(record))
}
