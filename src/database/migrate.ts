import { type Kysely, sql } from 'kysely'
import type { Migration, MigrationSeries, Migrations } from './migration.ts'
import * as records from './migrations/0001-records.ts'
import * as changeNotifications from './migrations/0002-change-notifications.ts'
import * as signIn from './migrations/0003-sign-in.ts'
import * as listIndexes from './migrations/0004-list-indexes.ts'
import * as signInAttempts from './migrations/0005-sign-in-attempts.ts'
import * as licenseValidity from './migrations/0006-license-validity.ts'
import * as apiTokens from './migrations/0007-api-tokens.ts'
import * as passwordResets from './migrations/0008-password-resets.ts'
import * as audit from './migrations/0009-audit.ts'
import * as prefixIndexes from './migrations/0010-prefix-indexes.ts'
import { incompatibleOf, nameNewer, type NewerMigration, newerOf, readAppliedMigrations } from './newer-migrations.ts'
import * as demonstration from './seeds/0001-demonstration.ts'
import type { Tables } from './tables.ts'

/** All migrations, in order. Never edit a released one: add a new file. They only add: see docs/building.md. */
export const migrations: Migrations = {
  '0001-records': records,
  '0002-change-notifications': changeNotifications,
  '0003-sign-in': signIn,
  '0004-list-indexes': listIndexes,
  '0005-sign-in-attempts': signInAttempts,
  '0006-license-validity': licenseValidity,
  '0007-api-tokens': apiTokens,
  '0008-password-resets': passwordResets,
  '0009-audit': audit,
  '0010-prefix-indexes': prefixIndexes,
}

/** The demonstration records, which the embedded database gets on its first start. */
export const seeds: Migrations = {
  '0001-demonstration': demonstration,
}

const migrationTable = 'portico_migrations'
const ownMigrationTable = 'site_migrations'
const seedTable = 'portico_seeds'

/** The tables that say what has been applied. */
export const migrationTables = [migrationTable, ownMigrationTable, seedTable]

/** An arbitrary number: the advisory lock that a migrating process holds. */
const lock = 7_078_414_223

/**
 * The migrations of this program, in the order in which they are applied.
 * @param own what an application that is built on Portico adds
 */
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
 * @param around called with the transaction and the function that adds them, unless they have been added before
 */
export async function seed(
  db: Kysely<Tables>,
  around: (transaction: Kysely<Tables>, add: () => Promise<void>) => Promise<void> = (_, add) => add(),
): Promise<void> {
  const steps = Object.entries(seeds).map(([name, { up }]): [string, Migration] => [
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
      throw new Error(`this version cannot run beside ${nameNewer(incompatible)}. ${advice}`)
    }
    const pending = Object.entries(series.migrations)
      .filter(([name]) => applied.every(migration => migration.name !== name))
      .sort(([one], [other]) => (one < other ? -1 : 1))
    if (pending.length > 0) await applyPending(transaction, series.table, pending)
    return newer
  })
}

const advice = 'Start the newer version, or restore a backup from before the upgrade'

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
