/** An export is NDJSON: a header, one record a line, and an ending. */
export const formatName = 'portico-export'
/** The newest version of the format that this program knows. */
export const formatVersion = 1
/** In bytes. Far longer than any real record, and short enough to be read as a whole. */
export const longestLine = 1024 * 1024

/** The first line. */
export interface Header {
  format: string
  version: number
  /** The last migration of Portico's tables. */
  migration: string
  /** The last migration of an application that is built on Portico. */
  site_migration?: string
  /** When the records were read (ISO 8601). */
  time: string
  /** The columns of each table. */
  tables: Record<string, readonly string[]>
}

/** A line between them. */
export interface RecordLine {
  table: string
  record: Record<string, unknown>
}

/** The last line, which shows that nothing is missing. */
export interface Ending {
  /** The number of records of each table. */
  counts: Record<string, number>
  /** The id of the next record that is added, for tables that have ids. Ids of removed records are never reused. */
  next_ids: Record<string, string>
}

/** Writes a line. */
export function lineOf(line: Header | Ending): string {
  return `${JSON.stringify(line)}\n`
}

/** Whether a JSON value is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
