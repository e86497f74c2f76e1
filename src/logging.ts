import type { FastifyBaseLogger, FastifyRequest, FastifyServerOptions } from 'fastify'
import { normaliseHost } from './http/host.ts'
import { before, pathOf } from './http/target.ts'

/** Where a log is at one of these, no line of "info" is written; where there is no log, it is at none. */
const quietLevels = new Set<string | undefined>([undefined, 'silent', 'fatal', 'error', 'warn'])

/**
 * The options of Fastify's logger: lines of JSON, or of colours and words where a person reads them.
 * @param isTerminal whether standard output is one
 */
export function loggerOptions(level: string, isTerminal: boolean) {
  const pretty = {
    transport: { target: 'pino-pretty', options: { translateTime: 'HH:MM:ss.l', ignore: 'pid,hostname' } },
  }
  return {
    level,
    serializers: { req: describeRequest },
    ...(isTerminal && pretty),
  } satisfies FastifyServerOptions['logger']
}

/** What Fastify's own says, without the query, and without a host that is none: each may hold a secret. */
function describeRequest({ method, originalUrl, host, ip }: FastifyRequest) {
  return { method, url: pathOf(originalUrl), host: normaliseHost(host) ?? '(invalid)', remoteAddress: ip }
}

/** Logs what a request is refused with. What may be said of that is worked out only where it is written. */
export function logRefusal(log: FastifyBaseLogger, statusCode: number, message: string): void {
  if (!quietLevels.has(log.level)) log.info({ statusCode }, withoutSecrets(message))
}

/**
 * A message without what it quotes of a request that may hold a secret: a referer, and of any other URL or host all from
 * its query or fragment on, and what stands before an "@".
 */
function withoutSecrets(message: string): string {
  const beginning = before(' (from "', before('#', before('?', message)))
  return beginning.includes('@') ? beginning.replace(/[^\s"']*@/g, '') : beginning
}
