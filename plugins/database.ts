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
}

/** Adds app.database. */
async function database (app: FastifyInstance, { database }: DatabasePluginOptions) {
  app.decorate('database', database)
}

export default fp(database, { name: 'database', fastify: '5.x' })
