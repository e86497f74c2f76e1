import { type Kysely, sql } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { RecordKind } from '../records/record-kind.ts'

/** Whether an export has the table's records. Each table comes after those that it refers to. */
const areKept: Record<keyof Tables, boolean> = {
  license_types: true,
  languages: true,
  platforms: true,
  licenses: true,
  license_languages: true,
  license_platforms: true,
  museums: true,
  groups: true,
  users: true,
  user_groups: true,
  api_tokens: true,
  // Without them, sessions that were signed out of would be valid again.
  ended_sessions: true,
  audit: true,
  // They work for an hour.
  password_resets: false,
  // They expire within minutes.
  sign_in_attempts: false,
}

/** All tables of Portico, kept or not. */
export const tablesOfPortico: readonly string[] = Object.keys(areKept)

/** A table whose records are exported, as the database has it. */
export interface KeptTable {
  name: string
  columns: readonly Column[]
  /** The columns of the primary key. */
  key: readonly string[]
}

export interface Column {
  name: string
  /** As PostgreSQL spells it: "bigint". */
  type: string
  /** The sequence that ids are taken from, quoted for SQL, or null. */
  sequence: string | null
}

/**
 * Reads the tables of an export from the database's catalog, in an order in which they can be restored.
 * @param ownKinds the kinds of records that an application adds to Portico's
 */
export async function readKeptTables(db: Kysely<Tables>, ownKinds: readonly RecordKind[]): Promise<KeptTable[]> {
  const own = ownKinds.flatMap(({ table, links }) => [table, ...Object.values(links).map(link => link.table)])
  const names = [...Object.entries(areKept).flatMap(([name, isKept]) => (isKept ? [name] : [])), ...own]
  const { rows } = await sql<Column & { table: string; position: number | null }>`
    select asked.name as table, attname as name, format_type(atttypid, null) as type,
      array_position(indkey::int2[], attnum) as position, pg_get_serial_sequence(asked.name, attname) as sequence
    from unnest(${names}::text[]) as asked(name)
    join pg_class on pg_class.oid = asked.name::regclass
    join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
    join pg_index on indrelid = pg_class.oid and indisprimary
    order by attnum`.execute(db)
  return names.map(name => {
    const columns = rows.filter(({ table }) => table === name)
    const key = columns
      .filter(({ position }) => position !== null)
      .sort((one, other) => Number(one.position) - Number(other.position))
    return {
      name,
      columns: columns.map(({ name, type, sequence }) => ({ name, type, sequence })),
      key: key.map(({ name }) => name),
    }
  })
}
