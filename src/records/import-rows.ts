import { pipeline, type Readable } from 'node:stream'
import { parse } from 'csv-parse'
import { fromText, isNullable } from './validation.ts'
import type { RecordKind } from './record-kind.ts'

/** One row of an imported file. */
export interface ImportRow {
  /** The line number, from 1. */
  line: number
  value: unknown
  /** Why the row could not be read, as the end of the sentence "The line …". Undefined if it could. */
  problem: string | undefined
}

export const importFormats = ['ndjson', 'csv'] as const
export type ImportFormat = (typeof importFormats)[number]

/** In characters of NDJSON or bytes of CSV. The same as the API's body limit, and longer than any real record. */
const longestRecord = 64 * 1024
const bound = longestRecord.toLocaleString('en')
const unread = '; the rest of the file was not read'

/** Reads the rows of a file, up to the first one that is too long. */
export function readRows(input: Readable, kind: RecordKind, format: ImportFormat): AsyncIterable<ImportRow> {
  return format === 'ndjson' ? readLines(input) : readCsv(input, kind)
}

/** Reads one JSON value per line and skips blank lines. */
async function* readLines(input: Readable): AsyncIterable<ImportRow> {
  let line = 0
  for await (const text of linesOf(input)) {
    line++
    if (text.length > longestRecord) {
      yield { line, value: undefined, problem: `has more than ${bound} characters${unread}` }
      return
    }
    if (text.trim() === '') continue
    yield { line, ...parseLine(line === 1 ? text.replace(/^\uFEFF/, '') : text) }
  }
}

/**
 * Splits at line feeds only, because readline also splits at U+2028 and U+2029, which JSON strings may contain. A line
 * that is too long is cut off and comes last.
 */
async function* linesOf(input: Readable): AsyncIterable<string> {
  let line = ''
  for await (const chunk of input.setEncoding('utf8')) {
    const [end, ...lines] = String(chunk).split('\n')
    line += end
    for (const next of lines) {
      yield line
      line = next
    }
    if (line.length > longestRecord) break
  }
  yield line
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
  record: Record<string, string>
  info: { lines: number }
}

/** Reads one record per row, below a header row with the names of the fields. An empty cell is null or left out. */
async function* readCsv(input: Readable, kind: RecordKind): AsyncIterable<ImportRow> {
  const skipped: ImportRow[] = []
  const parser = parse({
    bom: true,
    columns: names => {
      const twice = names.find((name: string, index: number) => names.indexOf(name) !== index)
      if (twice !== undefined) {
        skipped.push({ line: 1, value: undefined, problem: `names ${JSON.stringify(twice)} twice` })
      }
      return names
    },
    info: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_skip: error => {
      skipped.push({ line: Number(error?.['lines']), value: undefined, problem: `is not CSV: ${error?.message}` })
    },
  })
  const whole = (source: AsyncIterable<Buffer>) =>
    wholeRecords(source, line => {
      skipped.push({
        line,
        value: undefined,
        problem: `begins a record of more than ${bound} bytes, perhaps because a quote is not closed${unread}`,
      })
    })
  // The callback does nothing: the pipeline's errors are thrown by the iteration.
  const records: AsyncIterable<CsvRow> = pipeline(input, whole, parser, () => {})
  for await (const { record, info } of records) {
    yield* skipped.splice(0)
    const cells = Object.entries(record).filter(
      ([field, cell]) => cell !== '' || isNullable(kind.create.properties[field]),
    )
    yield {
      line: info.lines,
      value: Object.fromEntries(cells.map(([field, cell]) => [field, fromText(kind.create.properties[field], cell)])),
      problem: undefined,
    }
  }
  yield* skipped
}

const [lineFeed, carriageReturn, quote, comma] = [10, 13, 34, 44]
const separators = [lineFeed, carriageReturn, comma]

/**
 * Splits CSV into chunks of whole records, because the parser would hold a record of any length in memory. Also
 * replaces CRLF by LF, because the parser counts a CRLF within quotes as two lines.
 * @param onTooLong called with the first line of a record that is too long; the rest of the input is left out
 */
async function* wholeRecords(input: AsyncIterable<Buffer>, onTooLong: (line: number) => void): AsyncIterable<Buffer> {
  let text = ''
  let scanned = 0
  let isQuoted = false
  let line = 1
  let firstLine = 1
  for await (const chunk of input) {
    text += chunk.toString('latin1')
    let start = 0
    // A trailing CR may be the first half of a CRLF, and a trailing quote the first half of an escaped one.
    const known = /[\r"]$/.test(text) ? text.length - 1 : text.length
    for (; scanned < known; scanned++) {
      const code = text.charCodeAt(scanned)
      if (code === quote) {
        // As in the parser, a quote opens only at the start of a cell and closes only at its end.
        if (!isQuoted) isQuoted = scanned === 0 || separators.includes(text.charCodeAt(scanned - 1))
        else if (text.charCodeAt(scanned + 1) === quote) scanned++
        else isQuoted = !separators.includes(text.charCodeAt(scanned + 1))
      }
      const isEnd = code === lineFeed || (code === carriageReturn && text.charCodeAt(scanned + 1) !== lineFeed)
      if (isEnd) line++
      if (!isEnd || isQuoted) continue
      if (scanned - start > longestRecord) break
      start = scanned + 1
      firstLine = line
    }
    yield piece(text.slice(0, start))
    text = text.slice(start)
    scanned -= start
    if (scanned > longestRecord) return onTooLong(firstLine)
  }
  yield piece(text)
}

function piece(text: string): Buffer {
  return Buffer.from(text.replaceAll('\r\n', '\n'), 'latin1')
}
