import { readAppliedMigrations } from '../src/database/newer-migrations.ts'
import { type Command, readWords } from './command.ts'
import { writeRows } from './record-output.ts'
import { withDatabase } from './with-database.ts'

export const migrate: Command = {
  usage: 'migrate [--json]',
  summary: 'Migrates the tables, and lists all migrations.',
  details: `--json  print each as a line of JSON

Every start of the server migrates the tables, too.`,
  async run(words, terminal) {
    const {
      values: { json },
    } = readWords(words, [], { json: { type: 'boolean', default: false } })
    const rows = await withDatabase(terminal, async ({ db, series }) => {
      const applied = []
      for (const { table } of series) applied.push(...(await readAppliedMigrations(db, table)))
      return applied
    })
    writeRows(terminal, ['name', 'timestamp'], rows, { json, heading: false })
  },
}
