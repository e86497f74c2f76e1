import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { ownText } from '../http/memoize.ts'

/** The first one signs, all of them verify. Servers with the same first one count attempts to sign in together. */
export type CookieSecrets = readonly [string, ...string[]]

/** Without a configured secret, sign-ins end when the server restarts. */
export function cookieSecretsOf([first, ...others]: readonly string[]): CookieSecrets {
  return [first ?? randomBytes(32).toString('hex'), ...others]
}

export interface SessionToken {
  userId: string
  /** The session's random id. Renewed cookies keep it, so signing out ends all of them. */
  session: string
  /** In milliseconds since 1970. */
  expires: number
  /** Whether the session outlives the browser's. */
  remembered: boolean
  /** The fingerprint of the password hash at sign-in. */
  fingerprint: string
}

/** In milliseconds, from the moment a cookie is signed or renewed. */
export const lifetimes = { session: 12 * 60 * 60 * 1000, remembered: 30 * 24 * 60 * 60 * 1000 }

/** Byte offsets. The token is a flag, the user id, the expiry, the session id, the fingerprint and the signature. */
const [idAt, expiresAt, sessionAt, fingerprintAt, signatureAt] = [1, 9, 15, 33, 49] as const
/** 81 bytes are a multiple of three, so base64 has no unused bits and each token has exactly one spelling. */
const form = /^[\w-]{108}$/

/** The lifetime of a token in milliseconds. */
export function lifetimeOf({ remembered }: Pick<SessionToken, 'remembered'>): number {
  return remembered ? lifetimes.remembered : lifetimes.session
}

export function nameSession(): string {
  return randomBytes(fingerprintAt - sessionAt).toString('base64url')
}

const mostRemembered = 10_000

/** The signed form of tokens, in which cookies carry them. It is valid only on the domain that it was signed for. */
export class SessionTokens {
  readonly #keys: [Buffer, ...Buffer[]]
  readonly #verified = new LRUCache<string, { token: SessionToken; domain: string }>({ max: mostRemembered })

  constructor([first, ...others]: CookieSecrets) {
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

  /**
   * Remembers verified tokens, because verifying is nearly all of the work. Expiry and sign-out are still checked on
   * each request.
   * @returns the token, or null if sign() did not write exactly this text for this domain
   */
  read(text: string, domain: string): SessionToken | null {
    const known = this.#verified.get(text)
    if (known !== undefined) return known.domain === domain ? known.token : null
    const token = this.#verify(text, domain)
    if (token !== null) this.#verified.set(ownText(text), { token, domain })
    return token
  }

  #verify(text: string, domain: string): SessionToken | null {
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

/** Derives a key for session cookies, so that nothing else signed with the secret passes as a session. */
function keyOf(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'portico session cookie', 32))
}

function signatureOf(bytes: Buffer, domain: string, key: Buffer): Buffer {
  return createHmac('sha256', key).update(bytes).update(domain).digest()
}
