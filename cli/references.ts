import { type Kysely, sql } from 'kysely'
import type { Tables } from '../src/database/tables.ts'
import type { RecordKind } from '../src/records/record-kind.ts'
import { CommandError } from './command.ts'
import { findRecord, optionOf } from './record-fields.ts'

/** A field that refers to other records, which options may name instead of giving their ids. */
interface Reference {
  field: string
  /** The option that names one record, and may be repeated if the field is a list: "language". */
  option: string
  /** The option that names several, separated by commas: "languages". Undefined if the field is no list. */
  listOption: string | undefined
  to: RecordKind
}

function referencesOf(kind: RecordKind): Reference[] {
  return Object.values(kind.constraints).flatMap(({ field, refersTo: to }) => {
    const option = field.replace(/_ids?$/, '')
    return to === undefined
      ? []
      : [{ field, option, listOption: field.endsWith('_ids') ? `${option}s` : undefined, to }]
  })
}

/** The options by which a kind's fields name records, for parseArgs. */
export function referenceOptions(kind: RecordKind): Record<string, { type: 'string'; multiple: true }> {
  const names = referencesOf(kind).flatMap(({ option, listOption = option, to }) => [
    option,
    listOption,
    ...scopesOf(to),
  ])
  return Object.fromEntries(names.map(name => [name, { type: 'string', multiple: true }]))
}

/** The help on these options. */
export function describeReferences(kind: RecordKind): string {
  return referencesOf(kind)
    .flatMap(({ field, option, listOption, to }) => [
      listOption === undefined
        ? `--${option} <${to.knownBy}>  the ${to.name} by its ${to.knownBy}, instead of --${optionOf(field)}`
        : `--${listOption} <${to.knownBy},…>  ${to.plural} by ${to.knownBy}, instead of --${optionOf(field)}; also --${option} for each`,
      ...scopesOf(to).map(scope => `--${scope} <domain>  the ${scope} of the ${to.plural}, if several have the name`),
    ])
    .map(line => `${line}\n`)
    .join('')
}

/** The option that says which of several groups of the same name is meant. */
function scopesOf({ name }: RecordKind): string[] {
  return name === 'group' ? ['license'] : []
}

/**
 * Finds the records that options name.
 * @returns the options with their ids
 * @throws {CommandError} if there is no such record, or more than one
 */
export async function idsOf(
  db: Kysely<Tables>,
  kind: RecordKind,
  options: Readonly<Record<string, unknown>>,
): Promise<Record<string, string>> {
  const ids: Record<string, string> = {}
  for (const { field, option, listOption = '', to } of referencesOf(kind)) {
    const given = [wordsOf(options[option]), wordsOf(options[listOption]).flatMap(list => list.split(','))].flat()
    if (options[option] === undefined && options[listOption] === undefined) continue
    const found = new Set<string>()
    for (const word of given.map(word => word.trim()).filter(word => word !== '')) {
      const [license] = wordsOf(options['license'])
      found.add(to.name === 'group' ? await findGroup(db, word, license) : (await findRecord(db, to, word)).id)
    }
    ids[optionOf(field)] = [...found].join(',')
  }
  return ids
}

function wordsOf(option: unknown): string[] {
  return [option ?? []].flat().map(String)
}

/** Finds the id of the only group with this name or id. */
export async function findGroup(db: Kysely<Tables>, group: string, domain: string | undefined): Promise<string> {
  const found = await db
    .selectFrom('groups')
    .innerJoin('licenses', 'licenses.id', 'groups.license_id')
    .select(['groups.id', 'domain'])
    .where(({ eb, or }) => or([eb('groups.name', '=', group), eb(sql<string>`groups.id::text`, '=', group)]))
    .$if(domain !== undefined, query => query.where('domain', '=', domain ?? ''))
    .orderBy('groups.id')
    .execute()
  const [first, second] = found
  if (first === undefined) {
    throw new CommandError(
      `There is no group "${group}"${domain === undefined ? '' : ` of a license for "${domain}"`}.`,
    )
  }
  if (second !== undefined) {
    throw new CommandError(
      `There are several groups "${group}": ${found.map(({ id, domain }) => `${id} of ${domain}`).join(', ')}. ` +
        'Use an id, or --license.',
    )
  }
  return first.id
}
