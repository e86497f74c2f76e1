import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify'
import { profiledLogger } from './watch/log-recorder.ts'

/**
 * Prepares the options of the Fastify constructor, so that the profiler sees log lines of every level and requests that
 * fail before any hook runs. Without the profiler, the application works as before.
 */
export function profiledOptions<Options extends FastifyServerOptions>(options: Options) {
  return {
    ...options,
    ...(options.loggerInstance === undefined && { logger: profiledLogger(options.logger) }),
    frameworkErrors: options.frameworkErrors ?? answerAsFastify,
  }
}

/** Sends the same response as Fastify without `frameworkErrors`. */
function answerAsFastify(
  { code, message, statusCode = 400 }: FastifyError,
  _request: FastifyRequest,
  { raw: response }: FastifyReply,
): void {
  const body = JSON.stringify({ error: STATUS_CODES[statusCode], code, message, statusCode })
  response.writeHead(statusCode, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
  response.end(body)
}
