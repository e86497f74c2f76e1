import type { FastifyInstance } from 'fastify'
import frontPage from './front-page.ts'

/** The application: what a licensed host answers. */
export default async function routes (app: FastifyInstance) {
  await app.register(frontPage)
}
