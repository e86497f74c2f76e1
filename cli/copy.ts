import { ExportRefusedError, exportRecords } from '../src/backup/export.ts'
import { restoreRecords } from '../src/backup/restore.ts'
import { RestoreRefusedError } from '../src/backup/format.ts'
import { isPostgresUrl } from '../src/config.ts'
import { openNamedDatabase } from '../src/database/database.ts'
import { type Command, CommandError, readWords, UsageError } from './command.ts'
import { allOrNothing } from './database-failure.ts'
import { effort } from './effort.ts'
import { ProgressBar } from './progress-bar.ts'
import { writeOutcome } from './record-output.ts'
import { existing, withDatabase } from './with-database.ts'

export const copy: Command = {
  usage: 'copy --to <url> [--json]',
  summary: 'Copies all records to a PostgreSQL database.',
  details: `--to <url>  postgres://…; leave the password out, since others can see it: PGPASSWORD or ~/.pgpass has it
--json      print the number of records, seconds and megabytes of memory as a line of JSON

The other database must be empty. The command creates its tables, and copies everything or nothing. The records are
those of one moment, and keep their ids.`,
  async run(words, terminal) {
    const {
      values: { to, json },
      operands,
    } = readWords(words, [], { to: { type: 'string' }, json: { type: 'boolean', default: false } }, Infinity)
    // An operand is not shown: it may be a URL with a password.
    if (to === undefined || operands.length > 0) throw new UsageError('The URL goes after --to.')
    if (!isPostgresUrl(to)) throw new UsageError('--to must be a valid URL that begins with postgres://.')
    const ownKinds = terminal.additions?.records ?? []
    const effortOf = effort()
    const bar = new ProgressBar(terminal.errors)
    try {
      const copied = await withDatabase(
        terminal,
        async source => {
          const target = await openNamedDatabase(to, 'The database of --to', source.series)
          try {
            const lines = exportRecords(source, ownKinds, (part, records) => bar.show(part, records, 'records'))
            return await allOrNothing(() => restoreRecords(target, ownKinds, lines, () => {}))
          } finally {
            await target.close()
          }
        },
        existing,
      )
      bar.clear()
      const { sentence, ...figures } = effortOf()
      writeOutcome(terminal, `Copied ${copied.toLocaleString('en')} records ${sentence}`, { copied, ...figures }, json)
    } catch (error) {
      bar.clear()
      const isRefused = error instanceof RestoreRefusedError || error instanceof ExportRefusedError
      throw isRefused ? new CommandError(`Nothing was copied. ${error.message}`, { cause: error }) : error
    }
  },
}
