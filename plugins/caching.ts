import { Readable } from 'node:stream'
import fastifyCaching from '@fastify/caching'
import type { DoneFuncWithErrOrRes, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { matchesWeakly } from '../src/etag.ts'
import { etagSegment } from '../src/store/response-cache.ts'

/**
 * Adds @fastify/caching (reply.etag, reply.expires, app.cache) on the entities' store, registered after the checks so
 * that nothing is answered before them. Answers are private, and revalidated each time: none is ever stale.
 */
async function caching (app: FastifyInstance) {
  await app.register(fastifyCaching, { cache: app.store.responses, cacheSegment: etagSegment })

  app.addHook('onSend', function answerConditional (request: FastifyRequest, reply: FastifyReply, payload: unknown, done: DoneFuncWithErrOrRes) {
    stateFreshness(reply)
    if (!isUnchanged(request, reply)) return done(null, payload)
    reply.code(304).removeHeader('content-type').removeHeader('content-length')
    // Of a HEAD's body Fastify still takes the length, which a 304 may tell.
    if (request.method === 'HEAD') return done(null, payload)
    if (payload instanceof Readable) payload.destroy()
    done(null, null)
  })
}

/**
 * Has successes revalidated, and nothing else kept. Not by @fastify/caching's own option, which lower-cases the header's
 * name with each answer, twice: V8 has to look up what comes of it.
 */
function stateFreshness (reply: FastifyReply): void {
  const { statusCode } = reply
  if (!reply.hasHeader('cache-control')) reply.header('cache-control', statusCode >= 200 && statusCode < 300 ? 'private, no-cache' : 'no-store')
}

/** Whether the client has this very answer (RFC 9110, section 13.1.2). */
function isUnchanged ({ method, headers }: FastifyRequest, reply: FastifyReply): boolean {
  const condition = headers['if-none-match']
  if (condition === undefined || reply.statusCode !== 200 || (method !== 'GET' && method !== 'HEAD')) return false
  const etag = reply.getHeader('etag')
  return typeof etag === 'string' && matchesWeakly(condition, etag)
}

export default fp(caching, { name: 'caching', dependencies: ['entities', 'request-checker'], fastify: '5.x' })
