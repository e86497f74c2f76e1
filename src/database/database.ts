import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { reasonOf, StartError } from '../start-error.ts'
import { Availability } from './availability.ts'
import { Changes } from './changes.ts'
import { openEmbedded } from './embedded.ts'
import { Listener } from './listener.ts'
import { migrate, seed } from './migrate.ts'
import { sendPreparedQueries } from './prepared-queries.ts'
import { QueryEvents } from './query-events.ts'
import type { Tables } from './tables.ts'

export interface Database {
  db: Kysely<Tables>
  queries: QueryEvents
  changes: Changes
  /** Whether it can be asked now, and its changes are heard: for what says that the server is ready. */
  availability: Availability
  close: () => Promise<void>
}

export interface DatabaseOptions {
  /** A postgres:// URL; undefined: PGlite in dataDir. */
  databaseUrl: string | undefined
  dataDir: string
}

/** In milliseconds: how long a query waits for a connection, and a connection for the server. */
const connectionTimeoutMillis = 5000
/** In milliseconds: how long a connection is silent before it is asked whether it lives; the system's own is two hours. */
const keepAliveInitialDelayMillis = 10_000

/**
 * Opens the database, with its tables up to date and, where it is the embedded one, its demonstration records in it.
 * @throws {StartError} where it cannot be reached, opened or migrated
 */
export async function openDatabase ({ databaseUrl, dataDir }: DatabaseOptions): Promise<Database> {
  return await (databaseUrl === undefined ? openPglite(dataDir) : openPostgres(databaseUrl))
}

async function openPglite (dataDir: string): Promise<Database> {
  const changes = new Changes()
  const embedded = await openEmbedded(dataDir, client => changes.listenOn(client))
  const database = assemble(embedded.pool, changes, embedded.close)
  return await prepare(database, 'The embedded database', async () => {
    await migrate(database.db)
    await seed(database.db)
  })
}

async function openPostgres (connectionString: string): Promise<Database> {
  const changes = new Changes()
  const config = { connectionString, connectionTimeoutMillis, application_name: 'portico', keepAlive: true, keepAliveInitialDelayMillis }
  const listener = new Listener(config, changes)
  const database = assemble(new pg.Pool(config), changes, () => listener.close())
  return await prepare(database, 'The database of DATABASE_URL', async () => {
    await migrate(database.db)
    await listener.open()
  })
}

/** A database over a pool, which need not be connected. @param closeRest runs after the pool has ended */
export function assemble (pool: pg.Pool, changes: Changes, closeRest: () => Promise<void> = async () => {}): Database {
  // An idle connection that breaks is replaced by the next query; without a listener its error would end the process.
  pool.on('error', () => {})
  const queries = new QueryEvents()
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), plugins: [queries.plugin], log: queries.log })
  sendPreparedQueries(db, { pool, queries })
  return {
    db,
    queries,
    changes,
    availability: new Availability(changes),
    async close () {
      await db.destroy()
      await closeRest()
    }
  }
}

async function prepare (database: Database, name: string, steps: () => Promise<void>): Promise<Database> {
  try {
    await steps()
    return database
  } catch (error) {
    await database.close()
    throw new StartError(`${name} cannot be used: ${reasonOf(error)}.`, { cause: error })
  }
}
