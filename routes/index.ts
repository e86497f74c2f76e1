import type { FastifyInstance } from 'fastify'
import api from './api/index.ts'
import frontPage from './front-page.ts'
import language from './language.ts'

export default async function routes(app: FastifyInstance) {
  await app.register(frontPage)
  await app.register(language)
  await app.register(api, { prefix: '/api' })
}
