import type { FastifyInstance, FastifyReply } from 'fastify'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyReply {
    /** Says in the Vary header that the answer depends on these request headers, too (RFC 9110, section 12.5.5). */
    varyOn: (headers: string) => FastifyReply
  }
}

/** Adds reply.varyOn. */
async function vary (app: FastifyInstance) {
  app.decorateReply('varyOn', function varyOn (this: FastifyReply, headers: string) {
    const others = this.getHeader('vary')
    return this.header('vary', others === undefined ? headers : joined(String(others), headers))
  })
}

/** Of the few that there are each is made once: Node looks through the characters of a new one, and knows the old. */
const joints = new Map<string, Map<string, string>>()
const remembered = 100

function joined (others: string, headers: string): string {
  const known = joints.get(others)?.get(headers)
  if (known !== undefined) return known
  const missing = headers.split(', ').filter(name => !`, ${others},`.includes(`, ${name},`))
  const both = [others, ...missing].join(', ')
  if (joints.size < remembered) joints.set(others, (joints.get(others) ?? new Map()).set(headers, both))
  return both
}

export default fp(vary, { name: 'vary', fastify: '5.x' })
