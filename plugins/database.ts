import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Database } from '../src/database/database.ts'
import {
  describeNewer,
  incompatibleOf,
  nameNewer,
  type NewerMigration,
  readNewerMigrations,
} from '../src/database/migrate.ts'
import { reasonOf } from '../src/errors/start-error.ts'

declare module 'fastify' {
  interface FastifyInstance {
    database: Database
  }
}

/** Adds app.database. Logs which it is, when it is lost and back, and when a newer version migrates it. */
async function database(app: FastifyInstance, { database }: { database: Database }) {
  const { availability, changes, db, isShared, series } = database
  const logLoss = (cause: unknown) => {
    if (isShared) app.log.error({ err: cause }, 'The database is lost. Cached records are still served.')
    else app.log.fatal(`${reasonOf(cause)}. Cached records are still served, until the process ends.`)
  }
  const logReturn = () => app.log.info('The database is back.')
  const logUpgrade = (table: string) => {
    if (series.every(migrations => migrations.table !== table)) return
    readNewerMigrations(db, series).then(logNewer, (error: unknown) => {
      app.log.warn({ err: error }, 'The migrations of a newer version cannot be read.')
    })
  }
  availability.on('lost', logLoss).on('found', logReturn)
  changes.on('change', logUpgrade)
  app.addHook('onClose', async function stopListening() {
    availability.off('lost', logLoss).off('found', logReturn)
    changes.off('change', logUpgrade)
  })

  app.decorate('database', database)
  app.log.info(`Database: ${database.name}`)
  logNewer(database.newer)

  function logNewer(newer: readonly NewerMigration[]): void {
    const incompatible = incompatibleOf(newer)
    if (incompatible.length > 0) app.log.error(`This server cannot run beside ${nameNewer(incompatible)}. Stop it.`)
    else if (newer.length > 0) app.log.warn(describeNewer(newer))
  }
}

export default fp(database, { name: 'database', fastify: '5.x' })
