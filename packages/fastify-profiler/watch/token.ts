import { randomBytes } from 'node:crypto'

// For performance: one buffer holds the bytes of 256 tokens, since a buffer for each is costly to collect as garbage.
const tokenBytes = 9
let random = Buffer.alloc(0)

/** A token of 72 random bits, URL-safe. */
export function newToken(): string {
  if (random.length < tokenBytes) random = randomBytes(tokenBytes * 256)
  const token = random.toString('base64url', 0, tokenBytes)
  random = random.subarray(tokenBytes)
  return token
}
