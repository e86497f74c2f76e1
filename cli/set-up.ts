import { type Kysely, sql } from 'kysely'
import pg from 'pg'
import { readConfig } from '../src/config.ts'
import { Changes } from '../src/database/changes.ts'
import { assemble } from '../src/database/database.ts'
import { readAppliedMigrations, seed as seedDatabase } from '../src/database/migrate.ts'
import type { Tables } from '../src/database/tables.ts'
import { type Author, writeAdditions } from '../src/records/audit.ts'
import { kinds } from '../src/records/kinds.ts'
import type { RecordKind } from '../src/records/record-kind.ts'
import { command, CommandError, flag } from './command.ts'
import { listWriter, writeOutcome } from './terminal.ts'
import { allOrNothing, commandAuthor, withDatabase } from './with-database.ts'

export const migrate = command({
  usage: 'migrate [--json]',
  summary: 'Migrates the tables, and lists all migrations.',
  options: { json: flag('print each as a line of JSON') },
  notes: 'Every start of the server migrates the tables, too.',
  async run(terminal, { json }) {
    const applied = await withDatabase(terminal, async ({ db, series }) =>
      Promise.all(series.map(({ table }) => readAppliedMigrations(db, table))),
    )
    const write = listWriter(terminal, json, ['name', 'timestamp'], false)
    write(applied.flat(), ({ name, timestamp }) => [name, timestamp])
  },
})

export const seed = command({
  usage: 'seed [--json]',
  summary: 'Adds the demonstration records, once.',
  options: { json: flag('print the number of added records of each table as a line of JSON') },
  notes: 'An embedded database has them from its first start.',
  async run(terminal, { json }) {
    const added: Addition[] = []
    await withDatabase(
      terminal,
      async ({ db }) =>
        await allOrNothing(() =>
          seedDatabase(db, terminal.additions?.seeds, async (transaction, add) => {
            const all = [...kinds, ...(terminal.additions?.records ?? [])]
            added.push(...(await addAudited(transaction, commandAuthor(terminal), all, add)))
          }),
        ),
    )
    const counts = Object.fromEntries(added.map(({ kind, count }) => [kind.table, count]))
    writeOutcome(terminal, sentenceOf(added), { seeded: true, added: counts }, json)
  },
})

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
async function addAudited(
  db: Kysely<Tables>,
  author: Author,
  kinds: readonly RecordKind[],
  add: () => Promise<void>,
): Promise<Addition[]> {
  const lastIds = await Promise.all(
    kinds.map(async kind => {
      const { rows } = await sql<{ id: string }>`
        select coalesce(max(id), 0) as id from ${sql.table(kind.table)}`.execute(db)
      return { kind, id: rows[0]?.id }
    }),
  )
  await add()
  const added: Addition[] = []
  for (const { kind, id } of lastIds) {
    const { rows } = await sql<{ id: string }>`select id from ${sql.table(kind.table)} where id > ${id}`.execute(db)
    if (rows.length === 0) continue
    // Those that createRecord() has added have lines.
    const withoutLine = sql`
      select id from ${sql.table(kind.table)} where id > ${id} and not exists (
        select from audit where "table" = ${kind.table} and record_id = ${sql.table(kind.table)}.id)`
    await writeAdditions(db, author, kind, withoutLine)
    added.push({ kind, count: rows.length })
  }
  return added
}

export const routes = command({
  usage: 'routes [--json]',
  summary: 'Lists the methods and paths of all routes.',
  options: { json: flag('print each as a line of JSON') },
  async run(terminal, { json }) {
    // Imported on demand: no other command needs the server, which takes 0.2 s of CPU to load.
    const { buildApp } = await import('../app.ts')
    // Never connected, so the command also works beside a server that has the embedded database open.
    const database = assemble(new pg.Pool(), new Changes())
    const app = await buildApp({ ...terminal.additions, config: readConfig({}), database })
    await app.ready()
    const write = listWriter(terminal, json, ['method', 'url'], false)
    write(app.routeTable.routes(), ({ method, url }) => [method, url])
    await app.close()
    await database.close()
  },
})

/** What portico.js does itself, before it loads this command line. */
export const launched = [
  ['start', 'Builds what has changed and runs the server.'],
  ['dev', 'Runs the server with DEBUG=1 for development.'],
  ['build', 'Builds what has changed.'],
].map(([usage = '', summary = '']) =>
  command({
    usage,
    summary,
    options: {},
    async run() {
      throw new CommandError(`Only the command "portico" does this, in the folder of a site: npx portico ${usage}.`)
    },
  }),
)
