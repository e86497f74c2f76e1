import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Database } from '../src/database/database.ts'

declare module 'fastify' {
  interface FastifyInstance {
    database: Database
  }
}

export interface DatabasePluginOptions {
  database: Database
  /** Whether it is closed with the app, after the last request. */
  closes: boolean
}

/** Adds app.database. */
async function database (app: FastifyInstance, { database, closes }: DatabasePluginOptions) {
  if (closes) app.addHook('onClose', async function closeDatabase () { await database.close() })

  app.decorate('database', database)
}

export default fp(database, { name: 'database', fastify: '5.x' })
