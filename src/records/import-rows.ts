import { pipeline, type Readable } from 'node:stream'
import { parse } from 'csv-parse'
import { linesOf } from '../byte-lines.ts'
import { fromText, isNullable } from './validation.ts'
import type { RecordKind } from './record-kind.ts'

export interface ImportRow {
  /** The line number, from 1. */
  line: number
  /** In characters. Undefined if it could not be read. */
  length?: number
  value: unknown
  /** Why the row could not be read, as the end of the sentence "The line …". Undefined if it could. */
  problem: string | undefined
}

export const importFormats = ['ndjson', 'csv'] as const
type ImportFormat = (typeof importFormats)[number]

/** In characters of NDJSON or bytes of CSV. The same as the API's body limit, and longer than any real record. */
const longestRecord = 64 * 1024
const bound = longestRecord.toLocaleString('en')
const unread = '; the rest of the file was not read'

/** Reads the rows of a file, up to the first one that is too long. */
export function readRows(input: Readable, kind: RecordKind, format: ImportFormat): AsyncIterable<ImportRow> {
  return format === 'ndjson' ? readLines(input) : readCsv(input, kind)
}

async function* readLines(input: Readable): AsyncIterable<ImportRow> {
  // A character of JavaScript takes at most three bytes of UTF-8.
  for await (const { number: line, bytes } of linesOf(input, 3 * longestRecord)) {
    const text = bytes.toString()
    if (text.length > longestRecord) {
      yield { line, value: undefined, problem: `has more than ${bound} characters${unread}` }
      return
    }
    if (text.trim() === '') continue
    yield { line, length: text.length, ...parseLine(line === 1 ? text.replace(/^\uFEFF/, '') : text) }
  }
}

function parseLine(text: string) {
  try {
    const value: unknown = JSON.parse(text)
    return { value, problem: undefined }
  } catch {
    return { value: undefined, problem: 'is not JSON' }
  }
}

interface CsvRow {
  raw: string
  record: Record<string, string>
  info: { lines: number }
}

/** Reads one record per row, below a header row with the names of the fields. An empty cell is null or left out. */
async function* readCsv(input: Readable, kind: RecordKind): AsyncIterable<ImportRow> {
  const skipped: ImportRow[] = []
  const skip = (line: number, problem: string): undefined => {
    skipped.push({ line, value: undefined, problem })
  }
  let isTooLong = false
  let isCut = false
  const parser = parse({
    bom: true,
    columns: names => {
      const twice = names.find((name: string, index: number) => names.indexOf(name) !== index)
      if (twice !== undefined) skip(1, `names ${JSON.stringify(twice)} twice`)
      return names
    },
    info: true,
    max_record_size: longestRecord,
    raw: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_skip: (error, raw = '') => {
      if (isTooLong) return
      const line = Number(error?.['lines'])
      isTooLong = error?.code === 'CSV_MAX_RECORD_SIZE'
      if (isCut) return skip(line, `has too many cells${unread}`)
      if (!isTooLong) return skip(line, `is not CSV: ${error?.message}`)
      const linesBefore = raw.trimStart().split(/[\r\n]/).length - 1
      const problem = `begins a record of more than ${bound} bytes, perhaps because a quote is not closed${unread}`
      return skip(line - linesBefore, problem)
    },
  })
  /** Ends the input without an error, with which the parser would lose the records that it has read. */
  async function* untilTooLong(source: AsyncIterable<Buffer>) {
    let lineLength = 0
    for await (const chunk of source) {
      if (isTooLong) return
      yield chunk
      const end = Math.max(chunk.lastIndexOf('\n'), chunk.lastIndexOf('\r'))
      lineLength = end === -1 ? lineLength + chunk.length : chunk.length - end - 1
      // The parser does not count empty cells. Quotes at most double the length of the others.
      isCut = lineLength > 3 * longestRecord
      if (isCut) return
    }
  }
  // The callback does nothing: the pipeline's errors are thrown by the iteration.
  const records: AsyncIterable<CsvRow> = pipeline(input, untilTooLong, parser, () => {})
  for await (const { record, info, raw } of records) {
    yield* skipped.splice(0)
    const cells = Object.entries(record).filter(
      ([field, cell]) => cell !== '' || isNullable(kind.create.properties[field]),
    )
    yield {
      line: info.lines,
      length: raw.length,
      value: Object.fromEntries(cells.map(([field, cell]) => [field, fromText(kind.create.properties[field], cell)])),
      problem: undefined,
    }
  }
  yield* skipped
}
