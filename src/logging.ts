import type { FastifyServerOptions } from 'fastify'

/**
 * The options of Fastify's logger: lines of JSON, or of colours and words where a person reads them.
 * @param isTerminal whether standard output is one
 */
export function loggerOptions (level: string, isTerminal: boolean) {
  const pretty = { transport: { target: 'pino-pretty', options: { translateTime: 'HH:MM:ss.l', ignore: 'pid,hostname' } } }
  return { level, ...(isTerminal && pretty) } satisfies FastifyServerOptions['logger']
}
