import { Readable } from 'node:stream'
import fastifyCaching from '@fastify/caching'
import type { DoneFuncWithErrOrRes, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { matchesWeakly } from '../src/http/etag.ts'
import { etagSegment } from '../src/cache/response-cache.ts'

/**
 * Adds @fastify/caching (reply.etag, reply.expires, app.cache, Cache-Control) on the entities' store. Answers are private
 * and revalidated each time.
 *
 * Its own conditional requests cannot be used, and no option turns them off. It answers 304 to whatever path, method and
 * host names an ETag that it has seen, before the route runs, also after the answer has changed. It compares the whole
 * If-None-Match, so lists, "*" and weak ETags never match. A lifetime of 0 keeps an ETag from being seen, but each call of
 * reply.etag would have to state it. So the store drops what is written to the ETags' segment, and the hook below compares
 * If-None-Match with the answer itself.
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
