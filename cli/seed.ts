import { type Kysely, sql } from 'kysely'
import { seed as seedDatabase } from '../src/database/migrate.ts'
import type { Tables } from '../src/database/tables.ts'
import { type Author, writeAdditions } from '../src/records/audit.ts'
import { kinds } from '../src/records/kinds.ts'
import type { RecordKind } from '../src/records/record-kind.ts'
import { type Command, readWords } from './command.ts'
import { commandAuthor } from './command-author.ts'
import { allOrNothing } from './database-failure.ts'
import { writeOutcome } from './record-output.ts'
import { withDatabase } from './with-database.ts'

export const seed: Command = {
  usage: 'seed [--json]',
  summary: 'Adds the demonstration records, once.',
  details: `--json  print the number of added records of each table as a line of JSON

An embedded database has them from its first start.`,
  async run(words, terminal) {
    const {
      values: { json },
    } = readWords(words, [], { json: { type: 'boolean', default: false } })
    const added: Addition[] = []
    await withDatabase(
      terminal,
      async ({ db }) =>
        await allOrNothing(() =>
          seedDatabase(db, async (transaction, add) => {
            added.push(...(await addAudited(transaction, commandAuthor(terminal), add)))
          }),
        ),
    )
    const counts = Object.fromEntries(added.map(({ kind, count }) => [kind.table, count]))
    writeOutcome(terminal, sentenceOf(added), { seeded: true, added: counts }, json)
  },
}

interface Addition {
  kind: RecordKind
  count: number
}

function sentenceOf(added: readonly Addition[]): string {
  if (added.length === 0) return 'The database has had the demonstration records before. Nothing was added.'
  const counts = added.map(({ kind, count }) => `${count} ${count === 1 ? kind.name : kind.plural}`)
  return `Added ${new Intl.ListFormat('en-GB').format(counts)}.`
}

/** Adds records, with their lines in the audit. @returns how many of each kind, without those that have none */
async function addAudited(db: Kysely<Tables>, author: Author, add: () => Promise<void>): Promise<Addition[]> {
  const lastIds = await Promise.all(
    kinds.map(async kind => {
      const { rows } = await sql<{
        id: string
      }>`select coalesce(max(id), 0) as id from ${sql.table(kind.table)}`.execute(db)
      return { kind, id: rows[0]?.id }
    }),
  )
  await add()
  const added: Addition[] = []
  for (const { kind, id } of lastIds) {
    const { rows } = await sql<{ id: string }>`select id from ${sql.table(kind.table)} where id > ${id}`.execute(db)
    if (rows.length === 0) continue
    await writeAdditions(db, author, kind, sql`select unnest(${rows.map(({ id }) => id)}::bigint[])`)
    added.push({ kind, count: rows.length })
  }
  return added
}
