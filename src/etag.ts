import { createHash } from 'node:crypto'

/** The strong validator (RFC 9110, section 8.8.3) of a representation. */
export function etagOf (representation: string): string {
  return `"${createHash('sha1').update(representation).digest('base64url')}"`
}
