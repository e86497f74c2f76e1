import { tablesOfPortico } from '../backup/format.ts'
import { migrationTables } from '../database/migrate.ts'
import { StartError } from '../errors/start-error.ts'
import { kinds } from './kinds.ts'
import type { RecordKind } from './record-kind.ts'

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

/** The names of a kind's schemas in the API's document: "License", "LicenseInput", "LicenseChange", "LicensePage". */
export function schemaNamesOf({ name }: RecordKind) {
  const record = camelCase(name)
  return { record, input: `${record}Input`, change: `${record}Change`, page: `${record}Page` }
}

/** The names in the API's document that no other kind may have: of its schemas, and of the operation that lists it. */
function namesInApi(kind: RecordKind): string[] {
  return [...Object.values(schemaNamesOf(kind)), `list${camelCase(kind.plural)}`]
}

/** "license types" becomes "LicenseTypes". */
export function camelCase(words: string): string {
  return words.replace(/(?:^| )(.)/g, (_, letter: string) => letter.toUpperCase())
}
