import type { FastifyBaseLogger, FastifyRequest, FastifyServerOptions } from 'fastify'
import { normaliseHost } from './http/host.ts'
import { before, pathOf } from './http/target.ts'

/** The levels at which "info" lines are dropped. The level is undefined if logging is off. */
const quietLevels = new Set<string | undefined>([undefined, 'silent', 'fatal', 'error', 'warn'])

/**
 * The options of Fastify's logger: JSON lines, or coloured text on a terminal.
 * @param isTerminal whether standard output is a terminal
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

/** Like Fastify's own serializer, without query strings and invalid hosts, which may contain secrets. */
function describeRequest({ method, originalUrl, host, ip }: FastifyRequest) {
  return { method, url: pathOf(originalUrl), host: normaliseHost(host) ?? '(invalid)', remoteAddress: ip }
}

/** Logs why a request is refused. The message is cleaned only if the line will be written. */
export function logRefusal(log: FastifyBaseLogger, statusCode: number, message: string): void {
  if (!quietLevels.has(log.level)) log.info({ statusCode }, withoutSecrets(message))
}

/**
 * Removes possible secrets from a message: the referer, everything from a query or fragment on, and whatever comes
 * before an "@".
 */
function withoutSecrets(message: string): string {
  const beginning = before(' (from "', before('#', before('?', message)))
  return beginning.includes('@') ? beginning.replace(/[^\s"']*@/g, '') : beginning
}
