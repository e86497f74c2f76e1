import { attempt } from '../base/foreign-value.ts'
import type { Profile } from '../base/profile.ts'
import type { Exchange } from '../watch/exchange.ts'

/** Fastify's `request.protocol` if it is valid: with `trustProxy` it may be any text. Otherwise the connection's. */
export function protocolOf({ raw, request }: Exchange): Profile['protocol'] {
  const told = attempt(() => request?.protocol, undefined)
  if (told === 'http' || told === 'https') return told
  return 'encrypted' in Object(raw.socket) ? 'https' : 'http'
}
