import { type Kysely, sql } from 'kysely'
import { type Migration, type Migrations, migrations } from './migrations.ts'
import { addDemonstration } from './demonstration.ts'
import type { Tables } from './tables.ts'

/** Migrations and the table with the names of those that have been applied. */
export interface MigrationSeries {
  readonly table: string
  readonly migrations: Migrations
}

/** The demonstration records, which the embedded database gets on its first start. */
const seeds: Migrations = {
  '0001-demonstration': { up: addDemonstration },
}

export const migrationTable = 'portico_migrations'
const ownMigrationTable = 'site_migrations'
export const seedTable = 'portico_seeds'

export const migrationTables = [migrationTable, ownMigrationTable, seedTable]

/** An arbitrary number: the advisory lock that a migrating process holds. */
const lock = 7_078_414_223

/** The migrations of this program and of the application built on it, in the order in which they are applied. */
export function allSeriesWith(own: Migrations = {}): readonly MigrationSeries[] {
  return [
    { table: migrationTable, migrations },
    { table: ownMigrationTable, migrations: own },
  ]
}

/** @throws {Error} if the database has tables, and none of this application */
export async function assertOwnTables(db: Kysely<Tables>): Promise<void> {
  const tables = (await db.introspection.getTables()).filter(({ isView }) => !isView)
  if (tables.length > 0 && tables.every(({ name }) => name !== migrationTable)) {
    throw new Error('it has the tables of another application')
  }
}

/**
 * Migrates the tables to the latest version. A lock makes other processes wait that start at the same time.
 * @returns the migrations of a newer version, beside which this one runs
 * @throws {Error} if this version cannot run beside the migrations of a newer one
 */
export async function migrate(db: Kysely<Tables>, allSeries: readonly MigrationSeries[]): Promise<NewerMigration[]> {
  const newer: NewerMigration[] = []
  for (const series of allSeries) newer.push(...(await apply(db, series)))
  return newer
}

/**
 * Adds the demonstration records, once per database. Deleted ones stay deleted.
 * @param own what an application adds to them, or puts in their place
 * @param around called with the transaction and the function that adds them, unless they have been added before
 */
export async function seed(
  db: Kysely<Tables>,
  own: Migrations = {},
  around: (transaction: Kysely<Tables>, add: () => Promise<void>) => Promise<void> = (_, add) => add(),
): Promise<void> {
  const steps = Object.entries({ ...seeds, ...own }).map(([name, { up }]): [string, Migration] => [
    name,
    { up: (transaction: Kysely<Tables>) => around(transaction, () => up(transaction)) },
  ])
  await apply(db, { table: seedTable, migrations: Object.fromEntries(steps) })
}

/** Applies the migrations that have not been applied, all or none. @returns those that only a newer version knows */
async function apply(db: Kysely<Tables>, series: MigrationSeries): Promise<NewerMigration[]> {
  return await db.transaction().execute(async transaction => {
    await sql`select pg_advisory_xact_lock(${lock}::bigint)`.execute(transaction)
    const applied = await readAppliedMigrations(transaction, series.table)
    const newer = newerOf(series, applied)
    const incompatible = incompatibleOf(newer)
    if (incompatible.length > 0) {
      const advice = 'Start the newer version, or restore a backup from before the upgrade'
      throw new Error(`this version cannot run beside ${nameNewer(incompatible)}. ${advice}`)
    }
    const pending = Object.entries(series.migrations)
      .filter(([name]) => applied.every(migration => migration.name !== name))
      .sort(([one], [other]) => (one < other ? -1 : 1))
    if (pending.length > 0) await applyPending(transaction, series.table, pending)
    return newer
  })
}

async function applyPending(
  db: Kysely<Tables>,
  table: string,
  pending: readonly (readonly [name: string, migration: Migration])[],
): Promise<void> {
  await sql`
    create table if not exists ${sql.table(table)} (
      name varchar(255) primary key,
      timestamp varchar(255) not null
    )`.execute(db)
  // In the database, because older versions do not have the migration.
  await sql`alter table ${sql.table(table)} add column if not exists compatible_since varchar(255)`.execute(db)
  for (const [name, migration] of pending) {
    await migration.up(db)
    await sql`
      insert into ${sql.table(table)} (name, timestamp, compatible_since)
      values (${name}, ${new Date().toISOString()}, ${migration.compatibleSince ?? ''})`.execute(db)
  }
  // Tells the servers that are running: see plugins/database.ts.
  await sql`select pg_notify('portico_changes', ${table})`.execute(db)
}

interface AppliedMigration {
  name: string
  timestamp: string
  /** The oldest migration whose version runs beside it, or empty for every version. Null if nothing is known. */
  compatible_since: string | null
}

/** A migration that a newer version of the program has applied, and this one does not know. */
export interface NewerMigration {
  name: string
  /** Whether this version runs beside it. */
  isCompatible: boolean
}

export async function readAppliedMigrations(db: Kysely<Tables>, table: string): Promise<AppliedMigration[]> {
  const { rows: tables } = await sql`select where to_regclass(${table}) is not null`.execute(db)
  if (tables.length === 0) return []
  // The table may be of a version that had no such column.
  const { rows } = await sql<AppliedMigration>`
    select name, timestamp, to_jsonb(applied) ->> 'compatible_since' as compatible_since
    from ${sql.table(table)} as applied order by name`.execute(db)
  return rows
}

export async function readNewerMigrations(
  db: Kysely<Tables>,
  allSeries: readonly MigrationSeries[],
): Promise<NewerMigration[]> {
  const newer: NewerMigration[] = []
  for (const series of allSeries) newer.push(...newerOf(series, await readAppliedMigrations(db, series.table)))
  return newer
}

/** The applied migrations that a series does not have. */
export function newerOf({ migrations }: MigrationSeries, applied: readonly AppliedMigration[]): NewerMigration[] {
  const last = Object.keys(migrations).sort().at(-1) ?? ''
  return applied
    .filter(({ name }) => !Object.hasOwn(migrations, name))
    .map(({ name, compatible_since: since }) => ({ name, isCompatible: since !== null && since <= last }))
}

export function incompatibleOf(newer: readonly NewerMigration[]): readonly NewerMigration[] {
  return newer.filter(({ isCompatible }) => !isCompatible)
}

/** Names newer migrations in a sentence: "the migrations 0006-dates, 0007-tokens of a newer version". */
export function nameNewer(newer: readonly NewerMigration[]): string {
  return `the migration${newer.length > 1 ? 's' : ''} ${newer.map(({ name }) => name).join(', ')} of a newer version`
}

export function describeNewer(newer: readonly NewerMigration[]): string {
  return `The database has ${nameNewer(newer)}. ${newer.length > 1 ? 'They are' : 'It is'} compatible, so this version runs on.`
}
