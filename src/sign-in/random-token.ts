import { createHash, randomBytes } from 'node:crypto'

/** 32 bytes in base64url. The last of the 43 characters has four bits, so it is one of 16. */
const form = /^[\w-]{42}[AEIMQUYcgkosw048]$/

/** The prefix lets people and secret scanners recognise an API token. */
export const apiTokenPrefix = 'portico_'

/** Makes a token, whose text is shown once and not stored. */
export function makeToken(prefix = '') {
  const bytes = randomBytes(32)
  return { text: prefix + bytes.toString('base64url'), hash: hashOf(bytes) }
}

/** The hash that identifies a token. Null unless the text is the only spelling of a token with this prefix. */
export function hashOfToken(text: string, prefix = ''): string | null {
  const rest = text.slice(prefix.length)
  return text.startsWith(prefix) && form.test(rest) ? hashOf(Buffer.from(rest, 'base64url')) : null
}

/** The time of a lookup by hash reveals nothing, because nobody can choose the first characters of a hash. */
function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
