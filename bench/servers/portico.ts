import type { FastifyInstance } from 'fastify'
import { buildApp } from '../../app.ts'
import { readConfig } from '../../src/config.ts'
import { type BenchDatabase, environmentOf } from '../bench-database.ts'
import { listenWith } from '../measurable.ts'

/** Portico with two small routes. */
export default async function start({ database, debug = false }: { database: BenchDatabase; debug?: boolean }) {
  const config = readConfig({ ...environmentOf(database), DEBUG: debug ? '1' : '0' })
  return listenWith(await buildApp({ config, routes }))
}

async function routes(app: FastifyInstance) {
  app.get('/opening', async function showOpening(request) {
    return { site: request.requireLicense().name, language: request.locale }
  })
  app.get('/visitor', async function showVisitor(request) {
    return { site: request.requireLicense().name, visitor: request.user?.email }
  })
}
