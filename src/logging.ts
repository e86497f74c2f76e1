import type { FastifyRequest, FastifyServerOptions } from 'fastify'
import { normaliseHost } from './host.ts'
import { before, pathOf } from './target.ts'

/**
 * The options of Fastify's logger: lines of JSON, or of colours and words where a person reads them.
 * @param isTerminal whether standard output is one
 */
export function loggerOptions (level: string, isTerminal: boolean) {
  const pretty = { transport: { target: 'pino-pretty', options: { translateTime: 'HH:MM:ss.l', ignore: 'pid,hostname' } } }
  return { level, serializers: { req: describeRequest }, ...(isTerminal && pretty) } satisfies FastifyServerOptions['logger']
}

/** What Fastify's own says, without the query, and without a host that is none: each may hold a secret. */
function describeRequest ({ method, url, host, ip }: FastifyRequest) {
  return { method, url: pathOf(url), host: normaliseHost(host) ?? '(invalid)', remoteAddress: ip }
}

/**
 * A message without what it quotes of a request that may hold a secret: a referer, and of any other URL or host all from
 * its query or fragment on, and what stands before an "@".
 */
export function withoutSecrets (message: string): string {
  const beginning = before(' (from "', before('#', before('?', message)))
  return beginning.includes('@') ? beginning.replace(/[^\s"']*@/g, '') : beginning
}
