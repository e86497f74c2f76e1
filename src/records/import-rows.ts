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
export type ImportFormat = (typeof importFormats)[number]

/** In characters of NDJSON, or bytes of CSV: as much as the API takes in a body, which is more than any record has. */
const longestRecord = 64 * 1024
const bound = longestRecord.toLocaleString('en')
const unread = '; what comes after it was not read'

/** The rows of a file of records, up to one that is too long to be any. */
export function readRows(input: Readable, kind: RecordKind, format: ImportFormat): AsyncIterable<ImportRow> {
  return format === 'ndjson' ? readLines(input) : readCsv(input, kind)
}

/** A JSON value a line; blank lines are none. */
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
 * Text between line feeds: readline, too, ends lines at characters that JSON has within its strings. A line that is too
 * long is the last, and cut off.
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
    return { value: undefined, problem: 'is no JSON' }
  }
}

interface CsvRow {
  record: Record<string, string>
  info: { lines: number }
}

/** A record a line, under a first line with the names of their fields; an empty cell is a field that is not there. */
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
      skipped.push({ line: Number(error?.['lines']), value: undefined, problem: `is no CSV: ${error?.message}` })
    },
  })
  const whole = (source: AsyncIterable<Buffer>) =>
    wholeRecords(source, line => {
      skipped.push({
        line,
        value: undefined,
        problem: `begins a record of more than ${bound} bytes, as where a quote is not closed${unread}`,
      })
    })
  // What goes wrong with the one is thrown by the other.
  const records: AsyncIterable<CsvRow> = pipeline(input, whole, parser, () => {})
  for await (const { record, info } of records) {
    yield* skipped.splice(0)
    const cells = Object.entries(record).filter(([, cell]) => cell !== '')
    yield {
      line: info.lines,
      value: Object.fromEntries(cells.map(([field, cell]) => [field, fromText(kind.create, field, cell)])),
      problem: undefined,
    }
  }
  yield* skipped
}

const [lineFeed, carriageReturn, quote, comma] = [10, 13, 34, 44]
const separators = [lineFeed, carriageReturn, comma]

/**
 * The bytes of CSV in pieces that end where records do, each line ended by a line feed alone: of two characters the
 * parser makes two lines where they are within quotes. It would also hold a record of any length in memory.
 * @param onTooLong is given the line on which a record begins that is too long: it and what follows are left out
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
    // A carriage return at the end may be half of a line's end, and a quote half of a quoted one.
    const known = /[\r"]$/.test(text) ? text.length - 1 : text.length
    for (; scanned < known; scanned++) {
      const code = text.charCodeAt(scanned)
      if (code === quote) {
        // As the parser has it: one amid a cell without quotes opens nothing, and one before other text closes nothing.
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
