import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { Readable } from 'node:stream'
import { importRecords, ImportRefusedError } from '../records/import.ts'
import { importFormats, readRows } from '../records/import-rows.ts'
import type { RecordKind } from '../records/record-kind.ts'
import { reasonOf } from '../errors/start-error.ts'
import { type Command, CommandError, readWords, type Terminal, UsageError } from './command.ts'
import { ProgressBar } from './progress-bar.ts'
import { wordOf } from './record-fields.ts'
import { writeOutcome } from './record-output.ts'
import { withDatabase } from './with-database.ts'

export function recordImport(kind: RecordKind): Command {
  return {
    usage: `${wordOf(kind)} import <file> [--format <format>] [--json]`,
    summary: `Imports ${kind.plural} from a file, all or none.`,
    details: `The file has one record per line: NDJSON, or CSV below a line with the names of the fields. In CSV, an
empty cell leaves its field out and commas separate the items of a list. Use "-" to read standard input.

Fields: ${Object.keys(kind.create.properties).join(', ')}

--format <format>  ${importFormats.join(' or ')}; default: the file's extension
--json             print the number of records, seconds and megabytes of memory as a line of JSON`,
    async run(words, terminal) {
      const {
        values,
        operands: [file = ''],
      } = readWords(words, ['file'], { format: { type: 'string' }, json: { type: 'boolean', default: false } })
      const stated = values.format ?? extname(file).slice(1)
      const format = importFormats.find(format => format === stated)
      if (format === undefined) throw new UsageError(`--format must be ${importFormats.join(' or ')}.`)
      const { input, size } = await open(file, terminal)
      const begun = performance.now()
      const bar = new ProgressBar(terminal.errors)
      let bytes = 0
      const counted = Readable.from(
        count(input, chunk => {
          bytes += chunk
        }),
        { objectMode: false },
      )
      try {
        const added = await withDatabase(
          terminal,
          async ({ db }) =>
            await importRecords(db, kind, readRows(counted, kind, format), rows =>
              bar.show(size && bytes / size, rows, kind.plural),
            ),
        )
        bar.clear()
        const [seconds, memory] = [((performance.now() - begun) / 1000).toFixed(1), peakMemory()]
        writeOutcome(
          terminal,
          `Added ${added.toLocaleString('en')} ${kind.plural} in ${seconds} s, with ${memory} MB of memory.`,
          { added, seconds: Number(seconds), memory },
          values.json,
        )
      } catch (error) {
        bar.clear()
        throw error instanceof ImportRefusedError ? new CommandError(describe(file, error), { cause: error }) : error
      }
    },
  }
}

async function open(
  file: string,
  { input }: Terminal,
): Promise<{ input: AsyncIterable<Buffer | string>; size: number | undefined }> {
  if (file === '-') return { input, size: undefined }
  try {
    const { size } = await stat(file)
    const stream = createReadStream(file)
    await once(stream, 'readable')
    return { input: stream, size }
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${reasonOf(error)}.`, { cause: error })
  }
}

async function* count(input: AsyncIterable<Buffer | string>, onChunk: (bytes: number) => void) {
  for await (const chunk of input) {
    onChunk(Buffer.byteLength(chunk))
    yield chunk
  }
}

function describe(file: string, { named, count }: ImportRefusedError): string {
  const lines = [...named]
    .sort((one, other) => one.line - other.line)
    .map(({ line, reason }) => `\n  line ${line}: ${reason}`)
  const rest = count > named.length ? `\n  and ${count - named.length} more.` : ''
  const invalid = count === 1 ? `one line of ${file} is` : `${count.toLocaleString('en')} lines of ${file} are`
  return `Nothing was added: ${invalid} invalid.${lines.join('')}${rest}`
}

/** The process's peak memory in megabytes. */
function peakMemory(): number {
  return Math.round(process.resourceUsage().maxRSS / 1024)
}
