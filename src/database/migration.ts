import type { Migration as KyselyMigration } from 'kysely'

/** A step that changes the tables. A released one is never edited. */
export interface Migration extends KyselyMigration {
  /**
   * The oldest migration whose version of the program still runs beside this one. Default: all run, since migrations
   * only add. A migration that removes something names the one of the version that stopped using it.
   */
  readonly compatibleSince?: string
}

/** Migrations by their names, which begin with a number and are their order. */
export type Migrations = Readonly<Record<string, Migration>>

/** Migrations and the table with the names of those that have been applied. */
export interface MigrationSeries {
  readonly table: string
  readonly migrations: Migrations
}
