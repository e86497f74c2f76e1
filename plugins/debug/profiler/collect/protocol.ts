import { attempt } from '../base/foreign-value.ts'
import type { Profile } from '../base/profile.ts'
import type { Exchange } from '../watch/exchange.ts'

/** Fastify's own answer where there is one: behind a proxy it may know better, or repeat what anybody wrote. */
export function protocolOf({ raw, request }: Exchange): Profile['protocol'] {
  const told = attempt(() => request?.protocol, undefined)
  if (told === 'http' || told === 'https') return told
  return 'encrypted' in Object(raw.socket) ? 'https' : 'http'
}
