import { Readable } from 'node:stream'
import fastifyCaching from '@fastify/caching'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { matchesWeakly } from '../src/http/etag.ts'
import { etagSegment, ResponseCache } from '../src/cache/response-cache.ts'

/**
 * Adds @fastify/caching (reply.etag, reply.expires, app.cache, Cache-Control). Responses are private and revalidated
 * each time.
 *
 * Its own conditional requests are unusable, and no option turns them off. It answers 304 before the route runs, to any
 * path, method and host with an ETag that it knows, even after the response has changed. It compares the whole
 * If-None-Match, so lists, "*" and weak ETags never match. With a lifetime of 0 it does not store an ETag, but each
 * call of reply.etag would have to pass that. Instead, ResponseCache drops writes to the ETag segment, and the hook
 * below compares If-None-Match with the response itself.
 */
async function caching(app: FastifyInstance) {
  await app.register(fastifyCaching, {
    cache: new ResponseCache(),
    cacheSegment: etagSegment,
  })

  app.addHook('onSend', function answerConditional(request, reply, payload, done) {
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', cacheControlFor(reply))
    if (!isUnchanged(request, reply)) return done(null, payload)
    reply.code(304).removeHeader('content-type').removeHeader('content-length')
    // Fastify computes Content-Length from the body of a HEAD response, and a 304 may have that header.
    if (request.method === 'HEAD') return done(null, payload)
    if (payload instanceof Readable) payload.destroy()
    done(null, null)
  })
}

/** Replaces the option `privacy`, whose hook costs 2 % of a small request because it looks up "Cache-control". */
function cacheControlFor({ statusCode }: FastifyReply): string {
  return (statusCode >= 200 && statusCode < 300) || statusCode === 304 ? 'private, no-cache' : 'no-store'
}

/** Whether the client already has this response (RFC 9110, section 13.1.2). */
function isUnchanged({ method, headers }: FastifyRequest, reply: FastifyReply): boolean {
  const condition = headers['if-none-match']
  if (condition === undefined || reply.statusCode !== 200 || (method !== 'GET' && method !== 'HEAD')) return false
  const etag = reply.getHeader('etag')
  return typeof etag === 'string' && matchesWeakly(condition, etag)
}

export default fp(caching, { name: 'caching', dependencies: ['request-checker'], fastify: '5.x' })
