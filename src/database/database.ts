import { Kysely, PostgresDialect, type PostgresPool } from 'kysely'
import pg from 'pg'
import { reasonOf, StartError } from '../errors/start-error.ts'
import { Availability } from './availability.ts'
import { Changes } from './changes.ts'
import { openEmbedded } from './embedded.ts'
import { GuardedPool } from './guarded-pool.ts'
import { defaultLimits, type Limits } from './time-limits.ts'
import { Listener } from './listener.ts'
import { migrate, seed } from './migrate.ts'
import { type ConnectionPool, sendPreparedQueries } from './prepared-queries.ts'
import { QueryEvents } from './query-events.ts'
import type { Tables } from './tables.ts'

export interface Database {
  db: Kysely<Tables>
  queries: QueryEvents
  changes: Changes
  availability: Availability
  /** Whether other servers may use the same database. */
  isShared: boolean
  close: () => Promise<void>
}

export interface DatabaseOptions {
  /** A postgres:// URL, or undefined for PGlite in dataDir. */
  databaseUrl: string | undefined
  dataDir: string
  /** For commands: queries have no time limits, and changes are not listened for. Default: false. */
  patient?: boolean
  /** Default: defaultLimits. */
  limits?: Partial<Limits>
}

/** Milliseconds of silence before the first TCP keepalive probe. The system default is two hours. */
const keepAliveInitialDelayMillis = 10_000

/**
 * Opens and migrates the database. The embedded one is also seeded with demonstration records.
 * @throws {StartError} if the database cannot be reached, opened or migrated
 */
export async function openDatabase({
  databaseUrl,
  dataDir,
  patient = false,
  ...options
}: DatabaseOptions): Promise<Database> {
  const limits = { ...defaultLimits, ...options.limits }
  if (databaseUrl === undefined) return await openPglite(dataDir, patient ? null : limits)
  return await (patient ? openPatiently(databaseUrl, limits) : openPostgres(databaseUrl, limits))
}

async function openPglite(dataDir: string, limits: Limits | null): Promise<Database> {
  const changes = new Changes()
  const availability = new Availability(changes)
  const embedded = await openEmbedded(dataDir, client => changes.listenOn(client))
  const pool = withoutUncaughtErrors(embedded.pool)
  const guarded = limits === null ? pool : new GuardedPool(pool, availability, limits)
  const database = { ...assemble(guarded, changes, availability, embedded.close), isShared: false }
  return await prepare(database, 'The embedded database', async () => {
    await migrate(database.db)
    await seed(database.db)
    // Set only now, since PGlite's first connection may be slow.
    if (limits !== null) pool.options.connectionTimeoutMillis = limits.connection
  })
}

async function openPostgres(connectionString: string, limits: Limits): Promise<Database> {
  const { close } = await openPatiently(connectionString, limits)
  await close()
  const changes = new Changes()
  const availability = new Availability(changes)
  const config = configOf(connectionString)
  const listener = new Listener(config, changes, availability, limits)
  const timeouts = {
    connectionTimeoutMillis: limits.connection,
    statement_timeout: limits.statement,
    query_timeout: limits.answer,
  }
  const pool = new GuardedPool(withoutUncaughtErrors(new pg.Pool({ ...config, ...timeouts })), availability, limits)
  const database = assemble(pool, changes, availability, () => listener.close())
  return await prepare(database, nameOfPostgres, () => listener.open())
}

/** Opens and migrates the database on connections without time limits, since a migration may take long. */
async function openPatiently(connectionString: string, { connection }: Limits): Promise<Database> {
  const pool = new pg.Pool({ ...configOf(connectionString), connectionTimeoutMillis: connection })
  const database = assemble(withoutUncaughtErrors(pool), new Changes())
  return await prepare(database, nameOfPostgres, () => migrate(database.db))
}

const nameOfPostgres = 'The database of DATABASE_URL'

function configOf(connectionString: string): pg.ClientConfig {
  return { connectionString, application_name: 'portico', keepAlive: true, keepAliveInitialDelayMillis }
}

/** Ignores "error" events, which would end the process: the pool replaces idle connections, and queries reject. */
function withoutUncaughtErrors(pool: pg.Pool): pg.Pool {
  return pool.on('error', () => {}).on('connect', client => client.on('error', () => {}))
}

/**
 * Makes a database from a pool, without connecting it.
 * @param closeRest called after the pool has ended
 */
export function assemble(
  pool: PostgresPool & ConnectionPool,
  changes: Changes,
  availability = new Availability(changes),
  closeRest: () => Promise<void> = async () => {},
): Database {
  const queries = new QueryEvents()
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), plugins: [queries.plugin], log: queries.log })
  sendPreparedQueries(db, { pool, queries })
  return {
    db,
    queries,
    changes,
    availability,
    isShared: true,
    async close() {
      // Kysely's destroy() would end the pool only if Kysely had used it.
      await pool.end()
      await closeRest()
    },
  }
}

async function prepare(database: Database, name: string, steps: () => Promise<void>): Promise<Database> {
  try {
    await steps()
    return database
  } catch (error) {
    await database.close()
    throw new StartError(`${name} cannot be used: ${reasonOf(error)}.`, { cause: error })
  }
}
