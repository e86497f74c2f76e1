import type { AnyRecord } from '../records/repository.ts'
import type { Terminal } from './command.ts'
import { renderTable } from './table.ts'

/** Rows for a person, as a table with the fields' names above; or for a program, each a line of JSON. */
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

/** One record for a person, a field a line; or for a program, as a line of JSON. */
export function writeRecord({ output }: Terminal, record: AnyRecord, json: boolean): void {
  output.write(
    json
      ? `${JSON.stringify(record)}\n`
      : renderTable(Object.entries(record).map(([field, value]) => [field, cellOf(value)])),
  )
}

/** What was done: a sentence for a person, or for a program a line of JSON. */
export function writeOutcome({ output }: Terminal, sentence: string, outcome: object, json: boolean): void {
  output.write(`${json ? JSON.stringify(outcome) : sentence}\n`)
}

function cellOf(value: unknown): string {
  // What anybody put into the table without the API is no command to the terminal.
  return [value]
    .flat()
    .join(',')
    .replace(/\p{Cc}+/gu, ' ')
}
