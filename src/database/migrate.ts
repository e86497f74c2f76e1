import { type Kysely, type Migration, Migrator } from 'kysely'
import type { Tables } from './tables.ts'
import { migrations } from './migrations/index.ts'
import { seeds } from './seeds/index.ts'

/** Brings the tables up to date. Of processes that start at once one does it, under a lock, and the others wait. */
export async function migrate(db: Kysely<Tables>): Promise<void> {
  await apply(db, migrations, 'portico_migrations')
}

/** Adds the demonstration records, once in a database's life: deleted ones stay deleted. */
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
  // eslint-disable-next-line @typescript-eslint/only-throw-error -- Kysely types what it caught as unknown
  if (error !== undefined) throw error
}
