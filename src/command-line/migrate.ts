import { sql } from 'kysely'
import { type Command, readWords } from './command.ts'
import { renderTable } from './table.ts'
import { withDatabase } from './with-database.ts'

export const migrate: Command = {
  usage: 'migrate',
  summary: 'Brings the tables up to date, as every start does, and lists what was applied when.',
  details: '',
  async run (words, terminal) {
    readWords(words, [], {})
    const { rows } = await withDatabase(terminal, async ({ db }) => await sql<{ name: string, timestamp: string }>`select name, timestamp from portico_migrations order by name`.execute(db))
    terminal.output.write(renderTable(rows.map(({ name, timestamp }) => [name, timestamp])))
  }
}
