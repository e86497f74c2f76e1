import { extname } from 'node:path'
import { Readable } from 'node:stream'
import { importRecords, ImportRefusedError } from '../src/records/import.ts'
import { importFormats, readRows } from '../src/records/import-rows.ts'
import type { RecordKind } from '../src/records/record-kind.ts'
import { type Command, CommandError, readWords, UsageError } from './command.ts'
import { commandAuthor } from './command-author.ts'
import { allOrNothing } from './database-failure.ts'
import { openInput } from './input-file.ts'
import { ProgressBar } from './progress-bar.ts'
import { wordOf } from './record-fields.ts'
import { writeOutcome } from './record-output.ts'
import { effort } from './effort.ts'
import { withDatabase } from './with-database.ts'

export function recordImport(kind: RecordKind): Command {
  // The names of museums and groups are not unique.
  const hasUniqueName = !('license_id' in kind.create.properties)
  const updateOption = { update: { type: 'boolean', default: false } } as const
  return {
    usage: `${wordOf(kind)} import <file> [--format <format>] ${hasUniqueName ? '[--update] ' : ''}[--dry-run] [--json]`,
    summary: `Imports ${kind.plural} from a file, all or none.`,
    details: `The file has one record per line: NDJSON, or CSV below a line with the names of the fields. In CSV, an
empty cell leaves its field out, or empties it if it may be null. Commas separate the items of a list. "-" reads
standard input.

Fields: ${Object.keys(kind.create.properties).join(', ')}

${hasUniqueName ? `--update           change the ${kind.name} with the same ${kind.knownBy} if there is one; absent optional fields stay\n` : ''}--dry-run          check all lines and say what would happen, and change nothing
--format <format>  ${importFormats.join(' or ')}; default: the file's extension
--json             print the number of records, seconds and megabytes of memory as a line of JSON`,
    async run(words, terminal) {
      const {
        values,
        operands: [file = ''],
      } = readWords(words, ['file'], {
        format: { type: 'string' },
        ...(hasUniqueName && updateOption),
        'dry-run': { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
      })
      const { 'dry-run': isDryRun } = values
      const update = values.update === true
      const stated = values.format ?? extname(file).slice(1)
      const format = importFormats.find(format => format === stated)
      if (format === undefined) throw new UsageError(`--format must be ${importFormats.join(' or ')}.`)
      const input = await openInput(file, terminal)
      const effortOf = effort()
      const bar = new ProgressBar(terminal.errors)
      const bytes = Readable.from(input.chunks, { objectMode: false })
      try {
        const { added, changed } = await withDatabase(
          terminal,
          async ({ db }) =>
            await allOrNothing(() =>
              importRecords(
                db,
                commandAuthor(terminal),
                kind,
                readRows(bytes, kind, format),
                rows => bar.show(input.part(), rows, kind.plural),
                { update, isDryRun },
              ),
            ),
        )
        bar.clear()
        const { sentence, ...figures } = effortOf()
        writeOutcome(
          terminal,
          `${isDryRun ? 'Nothing was changed. Without --dry-run: added' : 'Added'} ${added.toLocaleString('en')}${update ? ` and changed ${changed.toLocaleString('en')}` : ''} ${kind.plural} ${sentence}`,
          { added, ...(update && { changed }), ...(isDryRun && { isDryRun }), ...figures },
          values.json,
        )
      } catch (error) {
        bar.clear()
        throw error instanceof ImportRefusedError ? new CommandError(describe(file, error), { cause: error }) : error
      }
    },
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
