import { pipeline, type Readable } from 'node:stream'
import { parse } from 'csv-parse'
import { fromText } from './from-text.ts'
import type { RecordKind } from './record-kind.ts'

/** What a line of a file has. */
export interface ImportRow {
  /** From 1. */
  line: number
  value: unknown
  /** Why it has no value; else undefined. */
  problem: string | undefined
}

export const importFormats = ['ndjson', 'csv'] as const
export type ImportFormat = typeof importFormats[number]

/** The rows of a file of records. */
export function readRows (input: Readable, kind: RecordKind, format: ImportFormat): AsyncIterable<ImportRow> {
  return format === 'ndjson' ? readLines(input) : readCsv(input, kind)
}

/** A JSON value a line; blank lines are none. */
async function * readLines (input: Readable): AsyncIterable<ImportRow> {
  let line = 0
  for await (const text of linesOf(input)) {
    line++
    if (text.trim() === '') continue
    yield { line, ...parseLine(line === 1 ? text.replace(/^\uFEFF/, '') : text) }
  }
}

/** Text between line feeds: readline, too, ends lines at characters that JSON has within its strings. */
async function * linesOf (input: Readable): AsyncIterable<string> {
  let rest = ''
  for await (const chunk of input.setEncoding('utf8')) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.splice(-1).join('')
    yield * lines
  }
  yield rest
}

function parseLine (text: string) {
  try {
    return { value: JSON.parse(text), problem: undefined }
  } catch {
    return { value: undefined, problem: 'is no JSON' }
  }
}

interface CsvRow {
  record: Record<string, string>
  info: { lines: number }
}

/** A record a line, under a first line with the names of their fields; an empty cell is a field that is not there. */
async function * readCsv (input: Readable, kind: RecordKind): AsyncIterable<ImportRow> {
  const skipped: ImportRow[] = []
  const parser = parse({
    bom: true,
    columns: names => {
      const twice = names.find((name: string, index: number) => names.indexOf(name) !== index)
      if (twice !== undefined) skipped.push({ line: 1, value: undefined, problem: `names ${JSON.stringify(twice)} twice` })
      return names
    },
    info: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_skip: error => { skipped.push({ line: Number(error?.['lines']), value: undefined, problem: `is no CSV: ${error?.message}` }) }
  })
  // What goes wrong with the one is thrown by the other.
  const records: AsyncIterable<CsvRow> = pipeline(input, withLineFeeds, parser, () => {})
  for await (const { record, info } of records) {
    yield * skipped.splice(0)
    const cells = Object.entries(record).filter(([, cell]) => cell !== '')
    yield { line: info.lines, value: Object.fromEntries(cells.map(([field, cell]) => [field, fromText(kind.create, field, cell)])), problem: undefined }
  }
  yield * skipped
}

/** Lines that end with a line feed alone: of two characters the parser makes two lines where they are within quotes. */
async function * withLineFeeds (input: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let held = ''
  for await (const chunk of input) {
    const bytes = held + chunk.toString('latin1')
    held = bytes.endsWith('\r') ? '\r' : ''
    yield Buffer.from(bytes.slice(0, bytes.length - held.length).replaceAll('\r\n', '\n'), 'latin1')
  }
  yield Buffer.from(held, 'latin1')
}
