import { type Kysely, sql } from 'kysely'
import type { MigrationSeries } from './migration.ts'
import type { Tables } from './tables.ts'

/** A migration as the database has it. */
export interface AppliedMigration {
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

/** Reads which migrations of a series have been applied, by their names. */
export async function readAppliedMigrations(db: Kysely<Tables>, table: string): Promise<AppliedMigration[]> {
  const { rows: tables } = await sql`select where to_regclass(${table}) is not null`.execute(db)
  if (tables.length === 0) return []
  // The table may be of a version that had no such column.
  const { rows } = await sql<AppliedMigration>`
    select name, timestamp, to_jsonb(applied) ->> 'compatible_since' as compatible_since
    from ${sql.table(table)} as applied order by name`.execute(db)
  return rows
}

/** Reads which migrations of these series are newer than this program. */
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

/** Those beside which this version cannot run. */
export function incompatibleOf(newer: readonly NewerMigration[]): readonly NewerMigration[] {
  return newer.filter(({ isCompatible }) => !isCompatible)
}

/** Names newer migrations in a sentence: "the migrations 0006-dates, 0007-tokens of a newer version". */
export function nameNewer(newer: readonly NewerMigration[]): string {
  return `the migration${newer.length > 1 ? 's' : ''} ${newer.map(({ name }) => name).join(', ')} of a newer version`
}

/** Says that this version runs on beside newer migrations. */
export function describeNewer(newer: readonly NewerMigration[]): string {
  return `The database has ${nameNewer(newer)}. ${newer.length > 1 ? 'They are' : 'It is'} compatible, so this version runs on.`
}
