import type { MigrationSeries } from '../database/migration.ts'
import { formatName, formatVersion, isObject } from './backup-format.ts'
import { quote } from './column-values.ts'
import type { Column, KeptTable } from './kept-tables.ts'
import { RestoreRefusedError } from './restore-refused.ts'

/** A table of an export, with the columns that the export has. */
export interface ExportedTable {
  name: string
  columns: readonly Column[]
}

/**
 * Reads the line that an export begins with.
 * @param line its number
 * @param tables the tables of this database
 * @param allSeries the migrations of this program
 * @returns the tables of the export, by name
 * @throws {RestoreRefusedError} if it is not the header of an export, or of an export that is newer than this program
 */
export function readHeader(
  line: number,
  header: unknown,
  tables: readonly KeptTable[],
  allSeries: readonly MigrationSeries[],
): Map<string, ExportedTable> {
  if (!isObject(header) || header['format'] !== formatName) {
    throw new RestoreRefusedError(line, 'The file is not an export of Portico.')
  }
  const { version, migration, site_migration: siteMigration, tables: exported } = header
  if (typeof version !== 'number' || typeof migration !== 'string' || !isObject(exported)) {
    throw new RestoreRefusedError(line, 'The line is not the header of an export.')
  }
  if (version !== formatVersion) {
    throw new RestoreRefusedError(
      line,
      `The export has version ${version} of the format, and this version of Portico reads ${formatVersion}.`,
    )
  }
  const isUnknown = (name: string) => allSeries.every(({ migrations }) => !Object.hasOwn(migrations, name))
  if (isUnknown(migration)) {
    throw new RestoreRefusedError(
      line,
      `The export is of a newer version of Portico: this one has no migration ${quote(migration)}.`,
    )
  }
  if (typeof siteMigration === 'string' && isUnknown(siteMigration)) {
    throw new RestoreRefusedError(
      line,
      `The export is of an application with migrations that this one does not have, such as ${quote(siteMigration)}.`,
    )
  }
  return new Map(Object.entries(exported).map(([name, columns]) => [name, tableOf(line, name, columns, tables)]))
}

function tableOf(line: number, name: string, columns: unknown, tables: readonly KeptTable[]): ExportedTable {
  const table = tables.find(table => table.name === name)
  if (table === undefined) throw new RestoreRefusedError(line, `There is no table ${quote(name)}.`)
  if (!isListOfNames(columns)) throw new RestoreRefusedError(line, `The line has no list of the columns of ${name}.`)
  const unknown = columns.find(column => table.columns.every(({ name }) => name !== column))
  if (unknown !== undefined) throw new RestoreRefusedError(line, `${name} has no column ${quote(unknown)}.`)
  const missing = table.key.find(column => !columns.includes(column))
  if (missing !== undefined) {
    throw new RestoreRefusedError(line, `The line leaves out the column ${missing} of ${name}.`)
  }
  // An older export has fewer columns, and the others get their defaults.
  return { name, columns: table.columns.filter(({ name }) => columns.includes(name)) }
}

function isListOfNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(name => typeof name === 'string')
}
