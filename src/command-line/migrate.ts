import { sql } from 'kysely'
import { type Command, readWords } from './command.ts'
import { writeRows } from './record-output.ts'
import { withDatabase } from './with-database.ts'

export const migrate: Command = {
  usage: 'migrate [--json]',
  summary: 'Brings the tables up to date, as every start does, and lists what was applied when.',
  details: '--json  a line of JSON for each',
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
