import { isUtf8 } from 'node:buffer'
import { type Kysely, sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Tables } from '../database/tables.ts'
import type { Line } from '../byte-lines.ts'
import { kinds } from '../records/kinds.ts'
import type { RecordKind } from '../records/record-kind.ts'
import { guard, quote } from '../records/validation.ts'

/** An export is NDJSON: a header, one record a line, and an ending. */
export const formatName = 'portico-export'
/** The newest version of the format that this program knows. */
export const formatVersion = 1
/** In bytes, with the line feed. Far longer than any real record, and short enough to be read as a whole. */
export const longestLine = 1024 * 1024

/** Whether a first line is one of Portico's, even if it is damaged. */
export const isOurs = guard(Type.Object({ format: Type.Literal(formatName), version: Type.Optional(Type.Unknown()) }))

const header = Type.Object({
  format: Type.Literal(formatName),
  version: Type.Literal(formatVersion),
  /** The last migration of Portico's tables. */
  migration: Type.String(),
  /** The last migration of an application that is built on Portico. */
  site_migration: Type.Optional(Type.String()),
  /** When the records were read (ISO 8601). */
  time: Type.String(),
  /** The columns of each table. */
  tables: Type.Record(Type.String(), Type.Array(Type.String())),
})

/** The first line. */
export const isHeader = guard(header)

const recordLine = Type.Object({
  table: Type.String(),
  record: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
})

/** A line between them. */
export type RecordLine = Static<typeof recordLine>
export const isRecordLine = guard(recordLine)

const ending = Type.Object({
  /** The number of records of each table. */
  counts: Type.Record(Type.String(), Type.Integer()),
  /** The id of the next record that is added, for tables that have ids. Ids of removed records are never reused. */
  next_ids: Type.Record(Type.String(), Type.String({ format: 'id' })),
})

/** The last line, which shows that nothing is missing. */
export type Ending = Static<typeof ending>
export const isEnding = guard(ending)

export function lineOf(line: Static<typeof header> | Ending): string {
  return `${JSON.stringify(line)}\n`
}

/** Parses a line's JSON. @throws {RestoreRefusedError} */
export function parseLine({ number, bytes, isWhole }: Line): unknown {
  if (bytes.length >= longestLine) {
    throw new RestoreRefusedError(number, `The line has more than ${longestLine.toLocaleString('en')} bytes.`)
  }
  if (!isUtf8(bytes)) throw new RestoreRefusedError(number, 'The line is not UTF-8.')
  try {
    return JSON.parse(bytes.toString())
  } catch {
    throw new RestoreRefusedError(number, isWhole ? 'The line is not JSON.' : 'The export is cut off within this line.')
  }
}

/** Nothing was restored. */
export class RestoreRefusedError extends Error {
  override readonly name = 'RestoreRefusedError'
  /** The line that is wrong, from 1, or undefined if the database is. */
  readonly line: number | undefined

  constructor(line: number | undefined, reason: string) {
    super(reason)
    this.line = line
  }
}

/** Tables that are in an export, but of no kind of records. */
const keptWithoutKind = [
  'api_tokens',
  // Without them, sessions that were signed out of would be valid again.
  'ended_sessions',
  'audit',
] as const
/** Tables whose rows end within minutes or an hour, so that no export has them. */
const notKept = ['password_resets', 'sign_in_attempts'] as const

/** The tables of kinds of records. Each comes after those that it refers to. */
function tablesOf(kinds: readonly RecordKind[]): string[] {
  return kinds.flatMap(({ table, links }) => [table, ...Object.values(links).map(link => link.table)])
}

/** All tables of Portico, kept or not. */
export const tablesOfPortico: readonly string[] = [...tablesOf(kinds), ...keptWithoutKind, ...notKept]

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

/** Reads the tables of an export from the database's catalog, in an order in which they can be restored. */
export async function readKeptTables(db: Kysely<Tables>, ownKinds: readonly RecordKind[]): Promise<KeptTable[]> {
  const names = [...tablesOf(kinds), ...keptWithoutKind, ...tablesOf(ownKinds)]
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
      .sort((one, other) => (one.position ?? 0) - (other.position ?? 0))
    return {
      name,
      columns: columns.map(({ name, type, sequence }) => ({ name, type, sequence })),
      key: key.map(({ name }) => name),
    }
  })
}

export function sequencesOf(tables: readonly KeptTable[]) {
  return tables.flatMap(({ name: table, columns }) =>
    columns.flatMap(({ name: column, sequence }) => (sequence === null ? [] : [{ table, column, name: sequence }])),
  )
}

interface ValueRule {
  accepts: (value: unknown) => boolean
  /** Completes the sentence "<column> must be …". */
  expects: string
}

const whole = /^-?\d{1,19}$/
// As to_json() writes it in UTC.
const time = /^(?:-?infinity|\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?\+00:00(?: BC)?)$/

/** The JSON values of PostgreSQL's types. The database itself judges the values of others. */
const rules: Record<string, ValueRule> = {
  bigint: { accepts: value => typeof value === 'string' && whole.test(value), expects: 'a whole number, as text' },
  integer: { accepts: value => Number.isInteger(value), expects: 'a whole number' },
  boolean: { accepts: value => typeof value === 'boolean', expects: 'true or false' },
  text: { accepts: value => typeof value === 'string', expects: 'text' },
  'timestamp with time zone': {
    accepts: value => typeof value === 'string' && time.test(value),
    expects: 'a time such as 2026-01-31T12:00:00+00:00',
  },
}

/** What is wrong with a record, as a sentence, or undefined. The database itself refuses null where it may not be. */
export function flawOf(record: Readonly<Record<string, unknown>>, columns: readonly Column[]): string | undefined {
  for (const { name, type } of columns) {
    if (!Object.hasOwn(record, name)) return `${name} is missing.`
    const value = record[name]
    const rule = rules[type]
    if (value !== null && rule?.accepts(value) === false) return `${name} must be ${rule.expects}.`
  }
  const surplus = Object.keys(record).find(field => columns.every(({ name }) => name !== field))
  return surplus === undefined ? undefined : `${quote(surplus)} is no column.`
}
