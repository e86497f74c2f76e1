import { extname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ExportRefusedError, exportRecords } from '../src/backup/export.ts'
import { RestoreRefusedError } from '../src/backup/format.ts'
import { restoreRecords } from '../src/backup/restore.ts'
import { isPostgresUrl } from '../src/config.ts'
import { openNamedDatabase } from '../src/database/database.ts'
import { importRecords, ImportRefusedError } from '../src/records/import.ts'
import { importFormats, readRows } from '../src/records/import-rows.ts'
import { type RecordKind, referencesOf } from '../src/records/record-kind.ts'
import { command, CommandError, flag, text, UsageError } from './command.ts'
import { openInput, writePrivateFile } from './files.ts'
import { wordOf } from './record-options.ts'
import { type Command, isTerminal, withProgress } from './terminal.ts'
import { allOrNothing, commandAuthor, existing, withDatabase } from './with-database.ts'

const jsonHelp = 'print the number of records and seconds as a line of JSON'

export function recordImport(kind: RecordKind): Command {
  // The names of museums and groups are not unique.
  const hasUniqueName = !('license_id' in kind.create.properties)
  const update = flag(
    `change the ${kind.name} with the same ${kind.knownBy} if there is one; absent optional fields stay`,
  )
  return command({
    usage: `${wordOf(kind)} import <file> [--format <format>] ${hasUniqueName ? '[--update] ' : ''}[--dry-run] [--json]`,
    summary: `Imports ${kind.plural} from a file, all or none.`,
    intro: `The file has one record per line: NDJSON, or CSV below a line with the names of the fields. In CSV, an
empty cell leaves its field out, or empties it if it may be null. Commas separate the items of a list. "-" reads
standard input.

Fields: ${Object.keys(kind.create.properties).join(', ')}
${referencesOf(kind)
  .map(({ field, option, listOption = option, to }) => `${listOption} has the ${to.knownBy} in place of ${field}.\n`)
  .join('')}\n`,
    options: {
      ...(hasUniqueName && { update }),
      'dry-run': flag('check all lines and say what would happen, and change nothing'),
      format: text('<format>', `${importFormats.join(' or ')}; default: the file's extension`),
      json: flag(jsonHelp),
    },
    async run(terminal, { update: isUpdate, 'dry-run': isDryRun, format: stated, json }, [file = '']) {
      const update = isUpdate === true
      const format = importFormats.find(format => format === (stated ?? extname(file).slice(1)))
      if (format === undefined) throw new UsageError(`--format must be ${importFormats.join(' or ')}.`)
      const { chunks, part } = await openInput(file, terminal)
      await withProgress(terminal, json, kind.plural, async show => {
        const rows = readRows(Readable.from(chunks, { objectMode: false }), kind, format)
        const count = (rows: number) => show(part(), rows)
        const { added, changed } = await withDatabase(
          terminal,
          async ({ db }) =>
            await allOrNothing(() =>
              importRecords(db, commandAuthor(terminal), kind, rows, count, { update, isDryRun }),
            ),
        ).catch((error: unknown) => {
          throw error instanceof ImportRefusedError ? new CommandError(describe(file, error), { cause: error }) : error
        })
        const begin = isDryRun ? 'Nothing was changed. Without --dry-run: added' : 'Added'
        const changes = update ? ` and changed ${changed.toLocaleString('en')}` : ''
        return {
          sentence: `${begin} ${added.toLocaleString('en')}${changes} ${added + changed === 1 ? kind.name : kind.plural}`,
          outcome: { added, ...(update && { changed }), ...(isDryRun && { isDryRun }) },
        }
      })
    },
  })
}

function describe(file: string, { named, count }: ImportRefusedError): string {
  const lines = [...named]
    .sort((one, other) => one.line - other.line)
    .map(({ line, reason }) => `\n  line ${line}: ${reason}`)
  const rest = count > named.length ? `\n  and ${count - named.length} more.` : ''
  const invalid = count === 1 ? `one line of ${file} is` : `${count.toLocaleString('en')} lines of ${file} are`
  return `Nothing was added: ${invalid} invalid.${lines.join('')}${rest}`
}

export const exportAll = command({
  usage: 'export [--output <file>] [--force] [--json]',
  summary: 'Exports all records, with password hashes.',
  options: {
    output: text(
      '<file>',
      'write to a file that only you can read; default, and "-": standard output, unless it is a terminal',
    ),
    force: flag('replace the file if there is one'),
    json: flag(`${jsonHelp}; needs --output`),
  },
  notes: 'The export is NDJSON and shows one moment, whatever changes meanwhile. "restore" reads it.',
  async run(terminal, { output: stated, force, json }) {
    const file = stated === '-' ? undefined : stated
    if (file === undefined && (force || json)) throw new UsageError('--force and --json need --output.')
    if (file === undefined && isTerminal(terminal.output)) {
      throw new UsageError('An export has secrets, which a terminal would show. Use --output, or redirect it.')
    }
    await withProgress(terminal, json, 'records', async show => {
      let exported = 0
      await withDatabase(
        terminal,
        async database => {
          const lines = exportRecords(database, terminal.additions?.records ?? [], (part, records) => {
            exported = records
            show(part, records)
          })
          if (file === undefined) await pipeline(lines, terminal.output, { end: false })
          else await writePrivateFile(file, lines, force)
        },
        existing,
      ).catch((error: unknown) => {
        throw error instanceof ExportRefusedError ? new CommandError(error.message, { cause: error }) : error
      })
      if (file === undefined) return undefined
      return { sentence: `Exported ${exported.toLocaleString('en')} records`, outcome: { exported } }
    })
  },
})

export const restore = command({
  usage: 'restore [--input] [<file>] [--json]',
  summary: 'Restores an export into an empty database.',
  intro: `Without a file, or with "-", it reads standard input. It restores everything or nothing. Ids stay the same.
Demonstration records that nobody has changed are replaced; with other records the database is not empty.\n\n`,
  options: { input: text('<file>', 'the same as <file>'), json: flag(jsonHelp) },
  async run(terminal, { input, json }, [operand]) {
    if (operand !== undefined && input !== undefined) throw new UsageError('Name one file.')
    const file = operand ?? input ?? '-'
    if (file === '-' && isTerminal(terminal.input)) throw new UsageError('<file> is missing.')
    const { chunks, part } = await openInput(file, terminal)
    await withProgress(terminal, json, 'records', async show => {
      const ownKinds = terminal.additions?.records ?? []
      const restored = await withDatabase(
        terminal,
        async database =>
          await allOrNothing(() => restoreRecords(database, ownKinds, chunks, records => show(part(), records))),
      ).catch((error: unknown) => {
        if (!(error instanceof RestoreRefusedError)) throw error
        const place = error.line === undefined ? '' : `line ${error.line} of ${file === '-' ? 'the input' : file}: `
        throw new CommandError(`Nothing was restored. ${place}${error.message}`, { cause: error })
      })
      return { sentence: `Restored ${restored.toLocaleString('en')} records`, outcome: { restored } }
    })
  },
})

export const copy = command({
  usage: 'copy --to <url> [--json]',
  summary: 'Copies all records to a PostgreSQL database.',
  options: {
    to: text('<url>', 'postgres://…; leave the password out, since others can see it: PGPASSWORD or ~/.pgpass has it'),
    json: flag(jsonHelp),
  },
  notes: `The other database must be empty. The command creates its tables, and copies everything or nothing. The records are
those of one moment, and keep their ids.`,
  // The operand may be a URL with a password.
  surplus: 'The URL goes after --to.',
  async run(terminal, { to, json }) {
    if (to === undefined) throw new UsageError('The URL goes after --to.')
    if (!isPostgresUrl(to)) throw new UsageError('--to must be a valid URL that begins with postgres://.')
    const ownKinds = terminal.additions?.records ?? []
    await withProgress(terminal, json, 'records', async show => {
      const copied = await withDatabase(
        terminal,
        async source => {
          const target = await openNamedDatabase(to, source.series)
          try {
            const lines = exportRecords(source, ownKinds, show)
            return await allOrNothing(() => restoreRecords(target, ownKinds, lines, () => {}))
          } finally {
            await target.close()
          }
        },
        existing,
      ).catch((error: unknown) => {
        const isRefused = error instanceof RestoreRefusedError || error instanceof ExportRefusedError
        throw isRefused ? new CommandError(`Nothing was copied. ${error.message}`, { cause: error }) : error
      })
      return { sentence: `Copied ${copied.toLocaleString('en')} records`, outcome: { copied } }
    })
  },
})
