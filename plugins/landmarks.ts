import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyInstance {
    /** Pages that the start names on a terminal, by their labels such as "API". */
    landmarks: Map<string, Landmark>
  }
}

interface Landmark {
  path: string
  /** Whether only hosts with a license have the page. */
  needsSite: boolean
}

/** Adds app.landmarks, to which any plugin may add its page. */
async function landmarks(app: FastifyInstance) {
  app.decorate('landmarks', new Map<string, Landmark>())
}

export default fp(landmarks, { name: 'landmarks', fastify: '5.x' })
