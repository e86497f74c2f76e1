import type { FastifyInstance, FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { pageHeaders } from '../src/pages/site-page.ts'

/** Adds the security headers that an HTML page does not set itself. */
async function securityHeaders(app: FastifyInstance) {
  const headers = Object.entries(pageHeaders)

  app.addHook('onSend', function securePage(_request, reply, payload, done) {
    if (isPage(reply)) for (const [name, value] of headers) if (!reply.hasHeader(name)) reply.header(name, value)
    done(null, payload)
  })
}

function isPage(reply: FastifyReply): boolean {
  const type = reply.getHeader('content-type')
  return typeof type === 'string' && type.startsWith('text/html')
}

export default fp(securityHeaders, { name: 'security-headers', fastify: '5.x' })
