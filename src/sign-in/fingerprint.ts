import { createHash } from 'node:crypto'

/** What a session's cookie says of the password's hash: another one after each change, as the salt is another one. */
export function fingerprintOf(passwordHash: string): string {
  return createHash('sha256')
    .update(`portico password fingerprint\0${passwordHash}`)
    .digest()
    .subarray(0, 16)
    .toString('base64url')
}
