import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { rememberTokens } from './remembered-tokens.ts'

/** What the cookie of a session says. */
export interface SessionToken {
  userId: string
  /** The session's own name: renewed cookies keep it, so that signing out ends all of them. */
  session: string
  /** In milliseconds since 1970. */
  expires: number
  /** Whether it outlives the browser's session. */
  remembered: boolean
  /** Of the hash of the password that was signed in with. */
  fingerprint: string
}

/** In milliseconds, from when it is signed or renewed. */
export const lifetimes = { session: 12 * 60 * 60 * 1000, remembered: 30 * 24 * 60 * 60 * 1000 }

/** In bytes: a flag, the user's id, the expiry, the session's name, the fingerprint. */
const [idAt, expiresAt, sessionAt, fingerprintAt, signatureAt] = [1, 9, 15, 33, 49] as const
/** 81 bytes: a multiple of three, so that base64 has no bits to spare, and every change of a character is one of a byte. */
const form = /^[\w-]{108}$/

/** How long a token is valid that is signed now. */
export function lifetimeOf({ remembered }: Pick<SessionToken, 'remembered'>): number {
  return remembered ? lifetimes.remembered : lifetimes.session
}

/** The name of a new session, which nobody can guess. */
export function nameSession(): string {
  return randomBytes(fingerprintAt - sessionAt).toString('base64url')
}

/** Writes and reads the values of session cookies, which hold on the domain that they were signed for and no other. */
export class SessionTokens {
  readonly #keys: [Buffer, ...Buffer[]]
  /** As verify, and remembers what it read. */
  readonly read = rememberTokens((text, domain) => this.verify(text, domain))

  /** @param secrets the first signs, all verify */
  constructor([first, ...others]: readonly [string, ...string[]]) {
    this.#keys = [keyOf(first), ...others.map(keyOf)]
  }

  sign({ userId, session, expires, remembered, fingerprint }: SessionToken, domain: string): string {
    const bytes = Buffer.alloc(signatureAt)
    bytes.writeUInt8(Number(remembered))
    bytes.writeBigInt64BE(BigInt(userId), idAt)
    bytes.writeUIntBE(Math.floor(expires / 1000), expiresAt, sessionAt - expiresAt)
    bytes.write(session, sessionAt, 'base64url')
    bytes.write(fingerprint, fingerprintAt, 'base64url')
    return Buffer.concat([bytes, signatureOf(bytes, domain, this.#keys[0])]).toString('base64url')
  }

  /** @returns null where it is not, to the last bit, what sign wrote for this domain */
  verify(text: string, domain: string): SessionToken | null {
    if (!form.test(text)) return null
    const bytes = Buffer.from(text, 'base64url')
    const signed = bytes.subarray(0, signatureAt)
    if (!this.#keys.some(key => timingSafeEqual(signatureOf(signed, domain, key), bytes.subarray(signatureAt)))) {
      return null
    }
    return {
      userId: String(bytes.readBigInt64BE(idAt)),
      session: bytes.toString('base64url', sessionAt, fingerprintAt),
      expires: bytes.readUIntBE(expiresAt, sessionAt - expiresAt) * 1000,
      remembered: bytes.readUInt8() === 1,
      fingerprint: bytes.toString('base64url', fingerprintAt, signatureAt),
    }
  }
}

/** A key of its own: what else is signed with the secret is no session. */
function keyOf(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'portico session cookie', 32))
}

function signatureOf(bytes: Buffer, domain: string, key: Buffer): Buffer {
  return createHmac('sha256', key).update(bytes).update(domain).digest()
}
