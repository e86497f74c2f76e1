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
  /** Whether it can be asked now, and its changes are heard: for what says that the server is ready. */
  availability: Availability
  /** Whether other servers may be using it, too. */
  isShared: boolean
  close: () => Promise<void>
}

export interface DatabaseOptions {
  /** A postgres:// URL; undefined: PGlite in dataDir. */
  databaseUrl: string | undefined
  dataDir: string
  /**
   * Whether queries take as long as they take, and nothing hears of changes: what a command does has no request that
   * waits for it. Default: no.
   */
  patient?: boolean
  /** Default: defaultLimits. */
  limits?: Partial<Limits>
}

/** In milliseconds: how long a connection is silent before it is asked whether it lives; the system's own is two hours. */
const keepAliveInitialDelayMillis = 10_000

/**
 * Opens the database, with its tables up to date and, where it is the embedded one, its demonstration records in it.
 * @throws {StartError} where it cannot be reached, opened or migrated
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
    // From here on: the first connection may take long on a slow machine.
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

/** With connections of its own: a migration may take long. */
async function openPatiently(connectionString: string, { connection }: Limits): Promise<Database> {
  const pool = new pg.Pool({ ...configOf(connectionString), connectionTimeoutMillis: connection })
  const database = assemble(withoutUncaughtErrors(pool), new Changes())
  return await prepare(database, nameOfPostgres, () => migrate(database.db))
}

const nameOfPostgres = 'The database of DATABASE_URL'

function configOf(connectionString: string): pg.ClientConfig {
  return { connectionString, application_name: 'portico', keepAlive: true, keepAliveInitialDelayMillis }
}

/** A connection that breaks while it is idle is replaced, and one that is asked something answers with the error, which would end the process, too. */
function withoutUncaughtErrors(pool: pg.Pool): pg.Pool {
  return pool.on('error', () => {}).on('connect', client => client.on('error', () => {}))
}

/** A database over a pool, which need not be connected. @param closeRest runs after the pool has ended */
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
      // Not by Kysely, which ends only what it has used itself.
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
