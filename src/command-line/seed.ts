import { seed as seedDatabase } from '../database/migrate.ts'
import { type Command, readWords } from './command.ts'
import { writeOutcome } from './record-output.ts'
import { withDatabase } from './with-database.ts'

export const seed: Command = {
  usage: 'seed [--json]',
  summary: 'Adds the demonstration records, once per database. An embedded database has them from its first start.',
  details: '--json  print the outcome as a line of JSON',
  async run(words, terminal) {
    const {
      values: { json },
    } = readWords(words, [], { json: { type: 'boolean', default: false } })
    await withDatabase(terminal, async ({ db }) => await seedDatabase(db))
    writeOutcome(terminal, 'The demonstration records have been added, now or earlier.', { seeded: true }, json)
  },
}
