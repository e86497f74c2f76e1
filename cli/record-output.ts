import type { RecordKind } from '../src/records/record-kind.ts'
import type { AnyRecord } from '../src/records/repository.ts'
import type { Terminal } from './command.ts'
import { isTerminal } from './is-terminal.ts'
import { fitTable, renderTable } from './table.ts'

/**
 * Writes records as a table with an optional heading, or each as a line of JSON. A table fits its terminal: the last
 * columns are left out, and long cells are cut.
 */
export function writeRows<Field extends string>(
  { output }: Terminal,
  fields: readonly Field[],
  records: readonly Readonly<Record<Field, unknown>>[],
  { json, heading }: { json: boolean; heading: boolean },
): void {
  if (json) output.write(records.map(record => `${JSON.stringify(record)}\n`).join(''))
  else {
    const cells = [fields, ...records.map(record => fields.map(field => cellOf(record[field])))]
    const [names = '', ...rows] = renderTable(fitTable(cells, tableWidth({ output }))).split(/(?<=\n)/)
    output.write(`${heading ? names : ''}${rows.join('')}`)
  }
}

/** Writes records of a kind as writeRows does. A table also has their states. */
export function writeRecords(
  terminal: Terminal,
  kind: RecordKind,
  records: readonly AnyRecord[],
  how: { json: boolean; heading: boolean },
): void {
  const rows = how.json ? records : records.map(record => withState(kind, record))
  writeRows(terminal, columnsOf(kind), rows, how)
}

/** Writes a record with one field per line and its state, or as a line of JSON. */
export function writeRecord({ output }: Terminal, kind: RecordKind, record: AnyRecord, json: boolean): void {
  const shown = withState(kind, record)
  output.write(
    json ? `${JSON.stringify(record)}\n` : renderTable(columnsOf(kind).map(column => [column, cellOf(shown[column])])),
  )
}

/** The columns of a kind's table. The state is among the first, which every terminal has room for. */
function columnsOf({ schema, knownBy, stateOf }: RecordKind): string[] {
  const columns = Object.keys(schema.properties)
  return stateOf === undefined ? columns : columns.toSpliced(columns.indexOf(knownBy) + 1, 0, 'state')
}

function withState({ stateOf }: RecordKind, record: AnyRecord): AnyRecord {
  return stateOf === undefined ? record : { ...record, state: stateOf(record) }
}

/** Warns on standard error, so that the output stays the same. */
export function writeWarning({ errors }: Terminal, warning: string | undefined): void {
  if (warning !== undefined) errors.write(`portico: Warning: ${warning}\n`)
}

/** Writes the outcome of a command as a sentence, or as a line of JSON. */
export function writeOutcome({ output }: Terminal, sentence: string, outcome: object, json: boolean): void {
  output.write(`${json ? JSON.stringify(outcome) : sentence}\n`)
}

/** How wide a table may be, in characters. */
export function tableWidth({ output }: Pick<Terminal, 'output'>): number {
  return isTerminal(output) ? widthOf(output) : Infinity
}

/** The columns of a terminal. Those that do not tell are as wide as they always were. */
function widthOf(terminal: object): number {
  return 'columns' in terminal && typeof terminal.columns === 'number' && terminal.columns > 0 ? terminal.columns : 80
}

/** A value as one line of text. */
export function cellOf(value: unknown): string {
  // Records that did not come through the API may contain escape sequences, which the terminal would execute.
  return [value]
    .flat()
    .join(',')
    .replace(/\p{Cc}+/gu, ' ')
}
