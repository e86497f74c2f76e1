import { type Kysely, sql } from 'kysely'
import { seed as seedDatabase } from '../database/migrate.ts'
import type { Tables } from '../database/tables.ts'
import { writeAdditions } from '../records/audit-lines.ts'
import type { Author } from '../records/author.ts'
import { kinds } from '../records/kinds.ts'
import { type Command, readWords } from './command.ts'
import { commandAuthor } from './command-author.ts'
import { writeOutcome } from './record-output.ts'
import { withDatabase } from './with-database.ts'

export const seed: Command = {
  usage: 'seed [--json]',
  summary: 'Adds the demonstration records, once per database.',
  details: `--json  print the outcome as a line of JSON

An embedded database has them from its first start.`,
  async run(words, terminal) {
    const {
      values: { json },
    } = readWords(words, [], { json: { type: 'boolean', default: false } })
    let sentence = 'The database has had the demonstration records before. Nothing was added.'
    await withDatabase(
      terminal,
      async ({ db }) =>
        await seedDatabase(db, async (transaction, add) => {
          await addAudited(transaction, commandAuthor(terminal), add)
          sentence = 'Added the demonstration records.'
        }),
    )
    writeOutcome(terminal, sentence, { seeded: true }, json)
  },
}

/** Adds records, with their lines in the audit. */
async function addAudited(db: Kysely<Tables>, author: Author, add: () => Promise<void>): Promise<void> {
  const lastIds = await Promise.all(
    kinds.map(async kind => {
      const { rows } = await sql<{
        id: string
      }>`select coalesce(max(id), 0) as id from ${sql.table(kind.table)}`.execute(db)
      return { kind, id: rows[0]?.id }
    }),
  )
  await add()
  for (const { kind, id } of lastIds) {
    await writeAdditions(db, author, kind, sql`select id from ${sql.table(kind.table)} where id > ${id}`)
  }
}
