import { Readable } from 'node:stream'
import fastifyCaching from '@fastify/caching'
import type { DoneFuncWithErrOrRes, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { matchesWeakly } from '../src/http/etag.ts'
import { etagSegment } from '../src/cache/response-cache.ts'

/**
 * Adds @fastify/caching (reply.etag, reply.expires, app.cache, Cache-Control) on the entities' store, registered after
 * the checks so that nothing is answered before them. Answers are private, and revalidated each time: none is ever stale.
 *
 * Its conditional requests have no option that turns them off, and cannot be used: once it knows an ETag, it answers 304
 * to any path, method and host that names it, before the route runs, and goes on to when the answer has changed. It
 * compares the whole If-None-Match, so lists, "*" and weak tags never match. So the store keeps no ETag of its segment,
 * and the hook below compares If-None-Match with the answer itself.
 */
async function caching(app: FastifyInstance) {
  await app.register(fastifyCaching, {
    privacy: 'private, no-cache',
    cache: app.store.responses,
    cacheSegment: etagSegment,
  })

  app.addHook(
    'onSend',
    function answerConditional(
      request: FastifyRequest,
      reply: FastifyReply,
      payload: unknown,
      done: DoneFuncWithErrOrRes,
    ) {
      if (!isUnchanged(request, reply)) return done(null, payload)
      reply.code(304).removeHeader('content-type').removeHeader('content-length')
      // Of a HEAD's body Fastify still takes the length, which a 304 may tell.
      if (request.method === 'HEAD') return done(null, payload)
      if (payload instanceof Readable) payload.destroy()
      done(null, null)
    },
  )
}

/** Whether the client has this very answer (RFC 9110, section 13.1.2). */
function isUnchanged({ method, headers }: FastifyRequest, reply: FastifyReply): boolean {
  const condition = headers['if-none-match']
  if (condition === undefined || reply.statusCode !== 200 || (method !== 'GET' && method !== 'HEAD')) return false
  const etag = reply.getHeader('etag')
  return typeof etag === 'string' && matchesWeakly(condition, etag)
}

export default fp(caching, { name: 'caching', dependencies: ['entities', 'request-checker'], fastify: '5.x' })
