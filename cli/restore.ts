import { RestoreRefusedError } from '../src/backup/format.ts'
import { restoreRecords } from '../src/backup/restore.ts'
import { type Command, CommandError, readWords, UsageError } from './command.ts'
import { allOrNothing } from './database-failure.ts'
import { effort } from './effort.ts'
import { openInput } from './input-file.ts'
import { isTerminal } from './is-terminal.ts'
import { ProgressBar } from './progress-bar.ts'
import { writeOutcome } from './record-output.ts'
import { withDatabase } from './with-database.ts'

export const restore: Command = {
  usage: 'restore [--input] [<file>] [--json]',
  summary: 'Restores an export into an empty database.',
  details: `Without a file, or with "-", it reads standard input. It restores everything or nothing. Ids stay the same.
Demonstration records that nobody has changed are replaced; with other records the database is not empty.

--input <file>  the same as <file>
--json          print the number of records, seconds and megabytes of memory as a line of JSON`,
  async run(words, terminal) {
    const {
      values,
      operands: [operand],
    } = readWords(words, [], { input: { type: 'string' }, json: { type: 'boolean', default: false } }, 1)
    if (operand !== undefined && values.input !== undefined) throw new UsageError('Name one file.')
    const file = operand ?? values.input ?? '-'
    if (file === '-' && isTerminal(terminal.input)) throw new UsageError('<file> is missing.')
    const input = await openInput(file, terminal)
    const effortOf = effort()
    const bar = new ProgressBar(terminal.errors)
    try {
      const restored = await withDatabase(
        terminal,
        async database =>
          await allOrNothing(() =>
            restoreRecords(database, terminal.additions?.records ?? [], input.chunks, records =>
              bar.show(input.part(), records, 'records'),
            ),
          ),
      )
      bar.clear()
      const { sentence, ...figures } = effortOf()
      const records = restored.toLocaleString('en')
      writeOutcome(terminal, `Restored ${records} records ${sentence}`, { restored, ...figures }, values.json)
    } catch (error) {
      bar.clear()
      if (!(error instanceof RestoreRefusedError)) throw error
      const place = error.line === undefined ? '' : `line ${error.line} of ${file === '-' ? 'the input' : file}: `
      throw new CommandError(`Nothing was restored. ${place}${error.message}`, { cause: error })
    }
  },
}
