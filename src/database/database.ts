import { once } from 'node:events'
import { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { Kysely, PostgresDialect, type PostgresPool } from 'kysely'
import pg from 'pg'
import type { Config } from '../config.ts'
import { reasonOf, StartError } from '../errors/start-error.ts'
import { Availability } from './availability.ts'
import { Changes } from './changes.ts'
import { causeOf } from './failures.ts'
import { LockedError } from './directory-lock.ts'
import { embeddedConfig, type OnCreation, openEmbedded } from './embedded.ts'
import { type ConnectionPool, defaultLimits, GuardedPool, type Limits } from './guarded-pool.ts'
import { Listener } from './listener.ts'
import { allSeriesWith, assertOwnTables, migrate, type MigrationSeries, type NewerMigration, seed } from './migrate.ts'
import type { Migrations } from './migrations.ts'
import { QueryServer } from './query-server.ts'
import type { Tables } from './tables.ts'

export interface Database {
  db: Kysely<Tables>
  /** For statements that Kysely does not build. */
  pool: ConnectionPool
  changes: Changes
  availability: Availability
  /** Names the database to people, without a password: "PostgreSQL at db.example/portico". */
  name: string
  /** Whether other servers may use the same database. */
  isShared: boolean
  /** The migrations of this program. */
  series: readonly MigrationSeries[]
  /** The migrations that a newer version had applied when the database was opened. This version runs beside them. */
  newer: readonly NewerMigration[]
  close: () => Promise<void>
}

export interface DatabaseOptions extends Pick<Config, 'databaseUrl' | 'dataDir'> {
  /** What an application adds to Portico's migrations. */
  migrations?: Migrations | undefined
  /** What an application adds to the demonstration records. */
  seeds?: Migrations | undefined
  /** For commands: queries have no time limits, and changes are not listened for. Default: false. */
  patient?: boolean
  onCreation?: OnCreation | undefined
  /** Default: defaultLimits. */
  limits?: Partial<Limits>
}

/** Its files pass queries on: the code that needs their results is elsewhere. */
export const databaseFolder = import.meta.dirname

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
  migrations,
  seeds = {},
  onCreation,
  ...options
}: DatabaseOptions): Promise<Database> {
  const limits = { ...defaultLimits, ...options.limits }
  const series = allSeriesWith(migrations)
  if (databaseUrl !== undefined) {
    const database = await (patient ? openPatiently : openPostgres)(databaseUrl, limits, series)
    return { ...database, series, name: nameOf(databaseUrl) }
  }
  const makeReady = async (database: Database) =>
    await prepare(database, 'The embedded database', async () => {
      const newer = await migrate(database.db, series)
      await seed(database.db, seeds)
      return newer
    })
  const opening = patient
    ? openPgliteBeside(dataDir, makeReady, onCreation)
    : openPglite(dataDir, limits, makeReady, onCreation)
  return { ...(await opening), series, name: `embedded database in ${dataDir}` }
}

/** Asks pg, because a URL may leave the host and the name to the environment. */
function nameOf(databaseUrl: string): string {
  const { host, database } = new pg.Client(configOf(databaseUrl))
  return `PostgreSQL at ${host}/${database}`
}

type AllSeries = readonly MigrationSeries[]

/** Migrates and seeds an embedded database. */
type MakeReady = (database: Database) => Promise<Database>

async function openPglite(
  dataDir: string,
  limits: Limits | null,
  makeReady: MakeReady,
  onCreation?: OnCreation,
): Promise<Database> {
  const changes = new Changes()
  const availability = new Availability()
  const embedded = await openEmbedded(dataDir, client => changes.listenOn(client), onCreation)
  embedded.death.addEventListener('abort', () => availability.lose(embedded.death.reason))
  const pool = withoutUncaughtErrors(embedded.pool)
  const guarded = new GuardedPool(pool, availability, limits ?? { waiting: Infinity })
  const assembled = { ...assemble(guarded, changes, availability, embedded.close), isShared: false }
  const database = await makeReady(assembled)
  if (limits === null) return database
  // Set only now, since PGlite's first connection may be slow.
  pool.options.connectionTimeoutMillis = limits.connection
  const queries = new QueryServer(guarded, embedded.connect)
  embedded.onWaiting(queries.serve)
  return {
    ...database,
    async close() {
      await queries.close()
      await database.close()
    },
  }
}

/**
 * Opens the embedded database for a command. If a server has it open, the server runs the queries. If another command
 * has it open, waits until that has ended.
 */
async function openPgliteBeside(dataDir: string, makeReady: MakeReady, onCreation?: OnCreation): Promise<Database> {
  let database: Database | null = null
  for (let refusals = 0; database === null;) {
    try {
      database = await openPglite(dataDir, null, makeReady, onCreation)
    } catch (error) {
      if (!(error instanceof LockedError)) throw error
      const begun = performance.now()
      const beside = openSocket(error.path)
      if (await isServed(beside)) {
        database = await makeReady(beside)
        continue
      }
      refusals = performance.now() - begun < atOnce ? refusals + 1 : 0
      if (refusals === mostRefusals) {
        throw new StartError(`${error.message} It takes no commands: stop it, or wait until it has ended.`)
      }
      await setTimeout(retryAfter)
    }
  }
  return database
}

/** Makes a database whose queries go through the socket of the server that has it open, a connection for each. */
function openSocket(path: string): Database {
  class LockSocket extends Socket {
    override connect(): this {
      return super.connect(path)
    }
  }
  const pool = withoutUncaughtErrors(new pg.Pool({ ...embeddedConfig, maxUses: 1, stream: () => new LockSocket() }))
  const clients = new Set<pg.PoolClient>()
  pool.on('connect', client => clients.add(client)).on('remove', client => clients.delete(client))
  const availability = new Availability()
  const guarded = new GuardedPool(pool, availability, { waiting: Infinity })
  // The server closes a connection once it knows of its changes. The pool itself does not wait for that.
  const closeRest = async () => {
    while (clients.size > 0) await once(pool, 'remove')
  }
  return { ...assemble(guarded, new Changes(), availability, closeRest), isShared: false }
}

/** Waits until the process that has the database open answers queries, or closes the connection. */
async function isServed({ pool }: Database): Promise<boolean> {
  try {
    const connection = await pool.connect()
    connection.release()
    return true
  } catch {
    return false
  }
}

/** A process that closes a connection this soon, in milliseconds, is ending or does not know of commands. */
const atOnce = 50
const retryAfter = 100
/** For how often a process may close connections at once while it ends. */
const mostRefusals = 30

async function openPostgres(connectionString: string, limits: Limits, series: AllSeries): Promise<Database> {
  const { newer, close } = await openPatiently(connectionString, limits, series)
  await close()
  const changes = new Changes()
  const availability = new Availability()
  const config = configOf(connectionString)
  const listener = new Listener(config, changes, availability, limits)
  const timeouts = {
    connectionTimeoutMillis: limits.connection,
    statement_timeout: limits.statement,
    query_timeout: limits.answer,
  }
  const pool = new GuardedPool(withoutUncaughtErrors(new pg.Pool({ ...config, ...timeouts })), availability, limits)
  const database = assemble(pool, changes, availability, () => listener.close())
  return await prepare(database, nameOfPostgres, async () => {
    await listener.open()
    return newer
  })
}

/** Opens and migrates the database on connections without time limits, since a migration may take long. */
async function openPatiently(
  connectionString: string,
  limits: Limits,
  series: AllSeries,
  name = nameOfPostgres,
  assertOurs: (db: Kysely<Tables>) => Promise<void> = async () => {},
): Promise<Database> {
  const pool = new pg.Pool({ ...configOf(connectionString), connectionTimeoutMillis: limits.connection })
  const availability = new Availability()
  const guarded = new GuardedPool(withoutUncaughtErrors(pool), availability, limits)
  const database = assemble(guarded, new Changes(), availability)
  return await prepare(database, name, async () => {
    await assertOurs(database.db)
    return await migrate(database.db, series)
  })
}

/**
 * Opens and migrates the PostgreSQL database that the option --to of a command names.
 * @throws {StartError} if it cannot be reached or migrated, or has another application's tables
 */
export async function openNamedDatabase(databaseUrl: string, series: readonly MigrationSeries[]): Promise<Database> {
  const name = 'The database of --to'
  return { ...(await openPatiently(databaseUrl, defaultLimits, series, name, assertOwnTables)), series }
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
  availability = new Availability(),
  closeRest: () => Promise<void> = async () => {},
): Database {
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return {
    db,
    pool,
    changes,
    availability,
    name: 'database',
    isShared: true,
    series: allSeriesWith(),
    newer: [],
    async close() {
      // Kysely's destroy() would end the pool only if Kysely had used it.
      await pool.end()
      await closeRest()
    },
  }
}

async function prepare(
  database: Database,
  name: string,
  steps: () => Promise<readonly NewerMigration[]>,
): Promise<Database> {
  try {
    return { ...database, newer: await steps() }
  } catch (error) {
    await database.close()
    if (error instanceof StartError) throw error
    throw new StartError(`${name} cannot be used: ${reasonOf(causeOf(error))}.`, { cause: error })
  }
}
