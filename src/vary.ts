import type { FastifyReply } from 'fastify'

/** Adds to the Vary header: the answer depends on these request headers (RFC 9110, section 12.5.5). */
export function varyOn (reply: FastifyReply, headers: string): void {
  const others = reply.getHeader('vary')
  reply.header('vary', others === undefined ? headers : `${others}, ${headers}`)
}
