import type { FastifyBaseLogger, FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify'
import { normaliseHost } from './http/host.ts'
import { before, pathOf } from './http/request.ts'
import { terminalLog } from './terminal-log.ts'

/** The levels at which "info" lines are dropped. The level is undefined if logging is off. */
const quietLevels = new Set<string | undefined>([undefined, 'silent', 'fatal', 'error', 'warn'])

/**
 * The options of Fastify's logger: JSON lines, or one line of text for each request.
 * @param output where the log goes if it is a terminal; the log is JSON on standard output otherwise
 */
export function loggerOptions(level: string, output: false | Pick<NodeJS.WriteStream, 'write' | 'isTTY'>) {
  const terminal = output && output.isTTY && output
  return {
    level,
    serializers: { req: describeRequest, ...(terminal && { res: describeReply }) },
    ...(terminal && { stream: terminalLog(terminal) }),
  } satisfies FastifyServerOptions['logger']
}

/** Like Fastify's own serializer, without query strings and invalid hosts, which may contain secrets. */
function describeRequest({ method, originalUrl, host, ip }: FastifyRequest) {
  return { method, url: pathOf(originalUrl), host: normaliseHost(host) ?? '(invalid)', remoteAddress: ip }
}

/** The answer together with its request, for the only line that a terminal shows of both. */
function describeReply({ request, statusCode }: Partial<FastifyReply> & Pick<FastifyReply, 'statusCode'>) {
  return { ...(request !== undefined && describeRequest(request)), statusCode }
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
