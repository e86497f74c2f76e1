import type { FastifyPluginAsync } from 'fastify'
import { tablesOfPortico } from './backup/kept-tables.ts'
import { migrationTables } from './database/migrate.ts'
import type { Migrations } from './database/migration.ts'
import type { MakeOwnEntities } from './entities/entities.ts'
import { StartError } from './errors/start-error.ts'
import { kinds } from './records/kinds.ts'
import type { RecordKind } from './records/record-kind.ts'

/** What an application that is built on Portico adds to it. */
export interface Additions {
  /** A plugin in place of `routes/`, which it may register itself. Its routes are behind all checks. */
  routes?: FastifyPluginAsync
  /** Plugins with an onRequest hook. They come after Portico's own checks, and only see requests that have a route. */
  checks?: readonly FastifyPluginAsync[]
  /** Migrations with names of their own, applied after Portico's. */
  migrations?: Migrations
  /** Makes the entities that `app.entities` has beside Portico's. */
  entities?: MakeOwnEntities
  /** Kinds of records, for the API, the commands and exports. Each comes after the kinds that it refers to. */
  records?: readonly RecordKind[]
}

const commands = ['audit', 'copy', 'export', 'help', 'migrate', 'restore', 'routes', 'seed', 'token']

/** What has a name already, by the name as commands and paths spell it. */
const ownersOfNames: readonly (readonly [name: string, owner: string])[] = [
  ...commands.map(name => [name, `the command "${name}"`] as const),
  ['docs', 'the path /api/docs'],
  ['openapi.json', 'the path /api/openapi.json'],
  ['problem', "the API's schema of problems"],
  ...kinds.flatMap(({ name, plural }) =>
    [name, plural].map(word => [spelled(word), `Portico's kind "${name}"`] as const),
  ),
]

/**
 * Asserts that every kind of records that an application adds has names and a table of its own.
 * @throws {StartError} if one has those of Portico or of another kind
 */
export function assertDistinct(own: readonly RecordKind[]): void {
  const names = new Map(ownersOfNames)
  const tables = new Map([...tablesOfPortico, ...migrationTables].map(table => [table, 'Portico']))
  for (const { name, plural, table } of own) {
    for (const word of [name, plural]) {
      const owner = names.get(spelled(word))
      if (owner !== undefined) {
        throw new StartError(`The kind of records "${name}" cannot be called "${word}": that is ${owner}.`)
      }
    }
    const owner = tables.get(table)
    if (owner !== undefined) {
      throw new StartError(`The kind of records "${name}" cannot have the table "${table}", which belongs to ${owner}.`)
    }
    for (const word of [name, plural]) names.set(spelled(word), `the kind "${name}"`)
    tables.set(table, `the kind "${name}"`)
  }
}

/** As commands and paths spell a name, in lower case because the API's schemas ignore it. */
function spelled(name: string): string {
  return name.toLowerCase().replaceAll(' ', '-')
}
