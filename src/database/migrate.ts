import { type Kysely, type Migration, Migrator } from 'kysely'
import type { Tables } from './tables.ts'
import { migrations } from './migrations/index.ts'
import { seeds } from './seeds/index.ts'

/** Migrates the tables to the latest version. A lock makes other processes wait that start at the same time. */
export async function migrate(db: Kysely<Tables>): Promise<void> {
  await apply(db, migrations, 'portico_migrations')
}

/** Adds the demonstration records, once per database. Deleted ones stay deleted. */
export async function seed(db: Kysely<Tables>): Promise<void> {
  await apply(db, seeds, 'portico_seeds')
}

async function apply(db: Kysely<Tables>, steps: Record<string, Migration>, table: string): Promise<void> {
  const { error } = await new Migrator({
    db,
    provider: { getMigrations: async () => steps },
    migrationTableName: table,
    migrationLockTableName: `${table}_lock`,
  }).migrateToLatest()
  // eslint-disable-next-line @typescript-eslint/only-throw-error -- Kysely types the error as unknown
  if (error !== undefined) throw error
}
