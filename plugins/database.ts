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

/** Adds app.database. Logs when the database is lost and when it is back. */
async function database(app: FastifyInstance, { database }: DatabasePluginOptions) {
  const { availability } = database
  const tellOfLoss = (cause: unknown) =>
    app.log.error({ err: cause }, 'The database is lost. Cached records are still served.')
  const tellOfReturn = () => app.log.info('The database is back.')
  availability.on('lost', tellOfLoss).on('found', tellOfReturn)
  app.addHook('onClose', async function stopTelling() {
    availability.off('lost', tellOfLoss).off('found', tellOfReturn)
  })

  app.decorate('database', database)
}

export default fp(database, { name: 'database', fastify: '5.x' })
