import { sql } from 'kysely'
import { type Command, readWords } from './command.ts'
import { writeRows } from './record-output.ts'
import { withDatabase } from './with-database.ts'

export const migrate: Command = {
  usage: 'migrate [--json]',
  summary: 'Migrates the tables to the latest version, as every start does, and lists all migrations.',
  details: '--json  print each as a line of JSON',
  async run(words, terminal) {
    const {
      values: { json },
    } = readWords(words, [], { json: { type: 'boolean', default: false } })
    const { rows } = await withDatabase(
      terminal,
      async ({ db }) =>
        await sql<{
          name: string
          timestamp: string
        }>`select name, timestamp from portico_migrations order by name`.execute(db),
    )
    writeRows(terminal, ['name', 'timestamp'], rows, { json, heading: false })
  },
}
