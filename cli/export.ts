import { pipeline } from 'node:stream/promises'
import { ExportRefusedError, exportRecords } from '../src/backup/export.ts'
import { type Command, CommandError, readWords, UsageError } from './command.ts'
import { effort } from './effort.ts'
import { isTerminal } from './is-terminal.ts'
import { writePrivateFile } from './private-file.ts'
import { ProgressBar } from './progress-bar.ts'
import { writeOutcome } from './record-output.ts'
import { existing, withDatabase } from './with-database.ts'

export const exportAll: Command = {
  usage: 'export [--output <file>] [--force] [--json]',
  summary: 'Exports all records, with password hashes.',
  details: `--output <file>  write to a file that only you can read; default, and "-": standard output, unless it is a terminal
--force          replace the file if there is one
--json           print the number of records, seconds and megabytes of memory as a line of JSON; needs --output

The export is NDJSON and shows one moment, whatever changes meanwhile. "restore" reads it.`,
  async run(words, terminal) {
    const {
      values: { output: file, force, json },
    } = readWords(words, [], {
      output: { type: 'string' },
      force: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    })
    const output = file === '-' ? undefined : file
    if (output === undefined && (force || json)) throw new UsageError('--force and --json need --output.')
    if (output === undefined && isTerminal(terminal.output)) {
      throw new UsageError('An export has secrets, which a terminal would show. Use --output, or redirect it.')
    }
    const effortOf = effort()
    const bar = new ProgressBar(terminal.errors)
    let exported = 0
    try {
      await withDatabase(
        terminal,
        async database => {
          const lines = exportRecords(database, terminal.additions?.records ?? [], (part, records) => {
            exported = records
            bar.show(part, records, 'records')
          })
          if (output === undefined) await pipeline(lines, terminal.output, { end: false })
          else await writePrivateFile(output, lines, force)
        },
        existing,
      )
    } catch (error) {
      throw error instanceof ExportRefusedError ? new CommandError(error.message, { cause: error }) : error
    } finally {
      bar.clear()
    }
    if (output === undefined) return
    const { sentence, ...figures } = effortOf()
    const records = exported.toLocaleString('en')
    writeOutcome(terminal, `Exported ${records} records ${sentence}`, { exported, ...figures }, json)
  },
}
