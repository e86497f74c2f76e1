import { STATUS_CODES, type ServerResponse } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify'
import { profiledLogger } from './watch/log-recorder.ts'

/**
 * Prepares the options of the Fastify constructor, so that the profiler sees log lines of every level and requests that
 * fail before any hook runs. Without the profiler, the application works as before.
 */
export function profiledOptions<Options extends FastifyServerOptions>(options: Options) {
  const { frameworkErrors } = options
  return {
    ...options,
    ...(options.loggerInstance === undefined && { logger: profiledLogger(options.logger) }),
    frameworkErrors(error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
      const { server } = reply
      if (server.hasDecorator('profiler')) server.profiler.failEarly(error, request, reply)
      if (frameworkErrors !== undefined) return frameworkErrors(error, request, reply)
      answerAsFastify(error, reply.raw)
    },
  }
}

/** Sends the same response as Fastify without `frameworkErrors`. */
function answerAsFastify({ code, message, statusCode = 400 }: FastifyError, response: ServerResponse): void {
  const body = JSON.stringify({ error: STATUS_CODES[statusCode], code, message, statusCode })
  response.writeHead(statusCode, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
  response.end(body)
}
