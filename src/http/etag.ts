import { createHash } from 'node:crypto'

/** The strong ETag (RFC 9110, section 8.8.3) of a representation. */
export function etagOf(representation: string): string {
  return `"${createHash('sha1').update(representation).digest('base64url')}"`
}

/** Whether an If-Match header matches this ETag. Weak ETags never match (RFC 9110, section 13.1.1). */
export function matches(condition: string, etag: string): boolean {
  return condition.trim() === '*' || condition.split(',').some(tag => tag.trim() === etag)
}

/** Whether an If-None-Match header matches this ETag. W/"1" matches "1" (RFC 9110, section 13.1.2). */
export function matchesWeakly(condition: string, etag: string): boolean {
  return matches(condition.replace(/(^|,)\s*W\//g, '$1'), etag.replace(/^W\//, ''))
}
