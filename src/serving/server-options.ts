import type { FastifyReply, FastifyRequest, FastifyServerOptions, RawRequestDefaultExpression } from 'fastify'
import { sendError } from '../errors/send-error.ts'
import { forwardedReader } from '../http/forwarded.ts'
import { toOriginForm } from '../http/target.ts'
import type { HttpServers } from './http-servers.ts'
import { bodyLimit } from './limits.ts'

export interface ServerOptions {
  logger: NonNullable<FastifyServerOptions['logger']>
  /** The addresses of proxies whose forwarded headers count. */
  trustProxy: string[]
  servers: HttpServers
}

/** Fastify's options for an app that these servers serve. */
export function serverOptions({ logger, trustProxy, servers }: ServerOptions) {
  return {
    logger,
    ...readingOptions(trustProxy),
    bodyLimit,
    serverFactory: servers.create,
    // HttpServers handles these errors. Fastify would call this for its first server only.
    clientErrorHandler: () => {},
    // Requests that arrive while closing are answered, and their answer closes the connection.
    return503OnClosing: false,
    frameworkErrors: (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
      sendError(error, request, reply.header('vary', 'Accept'))
    },
  }
}

/** The options for reading a request's target and forwarded headers. */
function readingOptions(trustProxy: string[]) {
  if (trustProxy.length === 0) return { rewriteUrl: toOriginForm }
  const readForwarded = forwardedReader(trustProxy)
  return {
    trustProxy,
    /** Reads forwarded headers here, because Fastify logs request.ip before it runs any hook. */
    rewriteUrl(raw: RawRequestDefaultExpression): string {
      readForwarded(raw)
      return toOriginForm(raw)
    },
  }
}
