import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { type Database, openDatabase } from '../src/database/database.ts'

declare module 'fastify' {
  interface FastifyInstance {
    database: Database
  }
}

export interface DatabasePluginOptions {
  databaseUrl: string | undefined
  dataDir: string
  /** One that is open already, and that whoever opened it closes. */
  database: Database | undefined
}

/** Adds app.database: open and up to date before the app is ready, closed after its last request. */
async function database (app: FastifyInstance, options: DatabasePluginOptions) {
  const database = options.database ?? await openDatabase(options)

  if (options.database === undefined) app.addHook('onClose', async function closeDatabase () { await database.close() })

  app.decorate('database', database)
}

export default fp(database, { name: 'database', fastify: '5.x' })
