import type { FastifyRequest, FastifyServerOptions } from 'fastify'
import { pathOf } from './target.ts'

/**
 * The options of Fastify's logger: lines of JSON, or of colours and words where a person reads them.
 * @param isTerminal whether standard output is one
 */
export function loggerOptions (level: string, isTerminal: boolean) {
  const pretty = { transport: { target: 'pino-pretty', options: { translateTime: 'HH:MM:ss.l', ignore: 'pid,hostname' } } }
  return { level, serializers: { req: describeRequest }, ...(isTerminal && pretty) } satisfies FastifyServerOptions['logger']
}

/** What Fastify's own says, without the query: it may hold a secret. */
function describeRequest ({ method, url, host, ip }: FastifyRequest) {
  return { method, url: pathOf(url), host, remoteAddress: ip }
}

/** A message without the queries of URLs that it quotes, which may hold a secret. */
export function withoutQueries (message: string): string {
  return message.includes('?') ? message.replace(/\?[^\s"']*/g, '') : message
}
