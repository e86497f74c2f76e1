import { seed as seedDatabase } from '../database/migrate.ts'
import { type Command, readWords } from './command.ts'
import { withDatabase } from './with-database.ts'

export const seed: Command = {
  usage: 'seed',
  summary: 'Adds the demonstration records, once in a database\'s life, as the first start of an embedded one does.',
  details: '',
  async run (words, terminal) {
    readWords(words, [], {})
    await withDatabase(terminal, async ({ db }) => await seedDatabase(db))
    terminal.output.write('The demonstration records were added, now or before.\n')
  }
}
