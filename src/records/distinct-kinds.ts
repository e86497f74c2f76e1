import { tablesOfPortico } from '../backup/format.ts'
import { migrationTables } from '../database/migrate.ts'
import { StartError } from '../errors/start-error.ts'
import { auditLines } from './audit.ts'
import { kinds } from './kinds.ts'
import type { RecordKind } from './record-kind.ts'
import { tokens } from './tokens.ts'

const commands = 'audit build copy dev export help migrate restore routes seed start token'

/** The owners of all names that are taken, by what claimsOf() calls them. */
const taken: readonly (readonly [name: string, owner: string])[] = [
  ...commands.split(' ').map(name => [`word ${name}`, `the command "${name}"`] as const),
  ['word docs', 'the path /api/docs'],
  ['word openapi.json', 'the path /api/openapi.json'],
  ['schema Problem', "the API's problems"],
  ...[...kinds, tokens, auditLines].flatMap(kind =>
    claimsOf(kind).map(({ name }) => [name, `Portico's kind "${kind.name}"`] as const),
  ),
  ...[...tablesOfPortico, ...migrationTables].map(name => [`table ${name}`, 'Portico'] as const),
]

/**
 * Asserts that every kind of records that an application adds has names and tables of its own.
 * @throws {StartError} if one has those of Portico or of another kind
 */
export function assertDistinct(own: readonly RecordKind[]): void {
  const owners = new Map(taken)
  for (const kind of own) {
    for (const { name, refusal } of claimsOf(kind)) {
      const owner = owners.get(name)
      if (owner !== undefined) throw new StartError(`The kind of records "${kind.name}" cannot ${refusal} ${owner}.`)
      owners.set(name, `the kind "${kind.name}"`)
    }
  }
}

/** What no other kind may have, with what is said of one that has it, up to the owner. */
function claimsOf(kind: RecordKind): { name: string; refusal: string }[] {
  const words = new Map([kind.name, kind.plural].map(word => [spelled(word), word]))
  const schemas = [...Object.values(schemaNamesOf(kind)), `list${camelCase(kind.plural)}`]
  const tables = [
    ['table', kind.table] as const,
    ...Object.values(kind.links).map(({ table }) => ['link table', table] as const),
  ]
  return [
    ...[...words].map(([name, word]) => ({ name: `word ${name}`, refusal: `be called "${word}": that is` })),
    ...schemas.map(name => ({
      name: `schema ${name}`,
      refusal: `be added: its name "${name}" in the API's document is that of`,
    })),
    ...tables.map(([what, table]) => ({
      name: `table ${unqualified(table)}`,
      refusal: `have the ${what} "${table}", which belongs to`,
    })),
  ]
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

/** "license types" becomes "LicenseTypes". */
export function camelCase(words: string): string {
  return words.replace(/(?:^| )(.)/g, (_, letter: string) => letter.toUpperCase())
}
