import { createHash } from 'node:crypto'

/** Identifies a password hash in a session cookie. Changing the password always changes it, since the salt is new. */
export function fingerprintOf(passwordHash: string): string {
  return createHash('sha256')
    .update(`portico password fingerprint\0${passwordHash}`)
    .digest()
    .subarray(0, 16)
    .toString('base64url')
}
