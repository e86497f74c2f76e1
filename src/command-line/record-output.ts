import type { AnyRecord } from '../records/repository.ts'
import type { Terminal } from './command.ts'
import { renderTable } from './table.ts'

/** Writes records as a table with an optional heading, or each as a line of JSON. */
export function writeRows<Field extends string>(
  { output }: Terminal,
  fields: readonly Field[],
  records: readonly Readonly<Record<Field, unknown>>[],
  { json, heading }: { json: boolean; heading: boolean },
): void {
  if (json) output.write(records.map(record => `${JSON.stringify(record)}\n`).join(''))
  else {
    const [names = '', ...rows] = renderTable([
      fields,
      ...records.map(record => fields.map(field => cellOf(record[field]))),
    ]).split(/(?<=\n)/)
    output.write(`${heading ? names : ''}${rows.join('')}`)
  }
}

/** Writes a record with one field per line, or as a line of JSON. */
export function writeRecord({ output }: Terminal, record: AnyRecord, json: boolean): void {
  output.write(
    json
      ? `${JSON.stringify(record)}\n`
      : renderTable(Object.entries(record).map(([field, value]) => [field, cellOf(value)])),
  )
}

/** Writes the outcome of a command as a sentence, or as a line of JSON. */
export function writeOutcome({ output }: Terminal, sentence: string, outcome: object, json: boolean): void {
  output.write(`${json ? JSON.stringify(outcome) : sentence}\n`)
}

function cellOf(value: unknown): string {
  // Records that did not come through the API may contain escape sequences, which the terminal would execute.
  return [value]
    .flat()
    .join(',')
    .replace(/\p{Cc}+/gu, ' ')
}
