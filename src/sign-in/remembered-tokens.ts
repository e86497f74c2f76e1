// Saves 3.8 of the 4.2 µs of CPU of reading a session's cookie: `npm run -w bench mechanisms`.
import { LRUCache } from 'lru-cache'
import { ownText } from '../http/own-text.ts'
import type { SessionToken } from './session-token.ts'

const mostRemembered = 10_000

type Read = (text: string, domain: string) => SessionToken | null

/** Remembers tokens whose signature has been verified. Expiry and sign-out are still checked on each request. */
export function rememberTokens(verify: Read): Read {
  const verified = new LRUCache<string, { token: SessionToken; domain: string }>({ max: mostRemembered })
  return (text, domain) => {
    const known = verified.get(text)
    if (known !== undefined) return known.domain === domain ? known.token : null
    const token = verify(text, domain)
    if (token !== null) verified.set(ownText(text), { token, domain })
    return token
  }
}
