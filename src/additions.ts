import type { FastifyPluginAsync } from 'fastify'
import { namesInApi } from '../routes/api/record-schemas.ts'
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
  ...kinds.flatMap(({ name, plural }) =>
    [name, plural].map(word => [spelled(word), `Portico's kind "${name}"`] as const),
  ),
]

/** What has a name already in the API's document. */
const ownersInApi: readonly (readonly [name: string, owner: string])[] = [
  ['Problem', "the API's problems"],
  ['AuditPage', 'the audit'],
  ...kinds.flatMap(kind => namesInApi(kind).map(name => [name, `Portico's kind "${kind.name}"`] as const)),
]

/**
 * Asserts that every kind of records that an application adds has names and tables of its own.
 * @throws {StartError} if one has those of Portico or of another kind
 */
export function assertDistinct(own: readonly RecordKind[]): void {
  const names = new Map(ownersOfNames)
  const apiNames = new Map(ownersInApi)
  const tables = new Map([...tablesOfPortico, ...migrationTables].map(table => [table, 'Portico']))
  for (const kind of own) {
    const { name, plural, table, links } = kind
    const thisKind = `the kind "${name}"`
    for (const word of [name, plural]) {
      const owner = names.get(spelled(word))
      if (owner !== undefined) {
        throw new StartError(`The kind of records "${name}" cannot be called "${word}": that is ${owner}.`)
      }
    }
    for (const word of [name, plural]) names.set(spelled(word), thisKind)
    for (const apiName of namesInApi(kind)) {
      const owner = apiNames.get(apiName)
      if (owner !== undefined) {
        throw new StartError(
          `The kind of records "${name}" cannot be added: its name "${apiName}" in the API's document is that of ${owner}.`,
        )
      }
      apiNames.set(apiName, thisKind)
    }
    const linkTables = Object.values(links).map(link => ['link table', link.table] as const)
    for (const [what, used] of [['table', table] as const, ...linkTables]) {
      const owner = tables.get(unqualified(used))
      if (owner !== undefined) {
        throw new StartError(
          `The kind of records "${name}" cannot have the ${what} "${used}", which belongs to ${owner}.`,
        )
      }
      tables.set(unqualified(used), thisKind)
    }
  }
}

/** "public.licenses" is the same table as "licenses". */
function unqualified(table: string): string {
  return table.replace(/^public\./, '')
}

/** As commands and paths spell a name, in lower case so that capitals alone make no other name. */
function spelled(name: string): string {
  return name.toLowerCase().replaceAll(' ', '-')
}
