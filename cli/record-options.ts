import { type Kysely, sql } from 'kysely'
import type { TObject, TSchema } from 'typebox'
import type { Tables } from '../src/database/tables.ts'
import { BadRequestHttpError } from '../src/errors/http-errors.ts'
import { type RecordKind, referencesOf } from '../src/records/record-kind.ts'
import { type AnyRecord, listRecords, readRecord } from '../src/records/repository.ts'
import { describeFieldErrors, formats, fromText, isNullable, validator, valueOf } from '../src/records/validation.ts'
import { CommandError, describeOptions, text, UsageError } from './command.ts'

/** The first word of a kind's commands: "license-type". */
export function wordOf({ name }: RecordKind): string {
  return name.replaceAll(' ', '-')
}

/** The option of a field: "type-id". */
function optionOf(field: string): string {
  return field.replaceAll('_', '-')
}

/** The options of a schema's fields. describeFields has the help on them. */
export function optionsOf({ properties }: TObject) {
  return Object.fromEntries(
    Object.entries(properties).map(([field, schema]) => [
      optionOf(field),
      { type: 'string', isSwitch: valueOf(schema).type === 'boolean' } as const,
    ]),
  )
}

export function describeFields({ properties }: TObject): string {
  const options = Object.entries(properties).map(
    ([field, schema]) => [optionOf(field), text(placeholderOf(schema), helpOf(schema))] as const,
  )
  return `${describeOptions(Object.fromEntries(options))}\n`
}

function helpOf(schema: TSchema): string {
  const { description, enum: words } = valueOf(schema)
  return Array.isArray(words) ? `${String(description)} One of ${words.join(', ')}.` : String(description)
}

function placeholderOf(schema: TSchema): string {
  const { type = 'value', format } = valueOf(schema)
  const none = isNullable(schema) ? '|none' : ''
  if (type === 'boolean') return `<true|false${none}; alone: true>`
  return type === 'array' ? '<id,id,…>' : `<${String(format ?? type)}${none}>`
}

/** Reads the fields that have an option. @throws {CommandError} if a value does not match the schema */
export function readFields(schema: TObject, options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(schema.properties)) {
    const text = options[optionOf(name)]
    if (typeof text === 'string') values[name] = fromText(field, text)
  }
  const errors = validator(schema)(values)
  if (errors.length > 0) throw new CommandError(describeFieldErrors(errors))
  return values
}

export function readLimit(limit: string): number {
  if (!/^[1-9]\d{0,8}$/.test(limit)) throw new UsageError('--limit must be a whole number of at least 1.')
  return Number(limit)
}

/** Finds a record by its id or by its kind's knownBy column. @throws {CommandError} if there is not exactly one */
export async function findRecord(db: Kysely<Tables>, kind: RecordKind, word: string): Promise<AnyRecord> {
  const byId = formats.id.accepts(word) ? await readRecord(db, kind, word) : undefined
  if (byId !== undefined) return byId
  const filters = { [kind.knownBy]: fromText(kind.query.properties[kind.knownBy], word) }
  const [first, second] = await listRecords(db, kind, { filters, limit: 2 }).then(({ records }) => records, noneIfUnfit)
  if (first === undefined) throw new CommandError(`There is no ${kind.name} "${word}".`)
  if (second !== undefined) {
    throw new CommandError(`There are several ${kind.plural} "${word}". Use an id such as ${first.id} or ${second.id}.`)
  }
  return first
}

function noneIfUnfit(error: unknown): AnyRecord[] {
  if (error instanceof BadRequestHttpError) return []
  throw error
}

/** Finds the id of the only group with this name or id. @throws {CommandError} */
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
  const whose = domain === undefined ? '' : ` of a license for "${domain}"`
  if (first === undefined) throw new CommandError(`There is no group "${group}"${whose}.`)
  if (second !== undefined) {
    const list = found.map(({ id, domain }) => `${id} of ${domain}`).join(', ')
    throw new CommandError(`There are several groups "${group}": ${list}. Use an id, or --license.`)
  }
  return first.id
}

export function referenceOptions(kind: RecordKind) {
  const names = referencesOf(kind).flatMap(({ option, listOption, scope }) => [option, listOption, scope])
  return Object.fromEntries(
    names.filter(name => name !== undefined).map(name => [name, { type: 'string', multiple: true } as const]),
  )
}

export function describeReferences(kind: RecordKind): string {
  return referencesOf(kind)
    .flatMap(({ field, option, listOption, to: { name, plural, knownBy }, scope }) => {
      const instead = `instead of --${optionOf(field)}`
      return [
        listOption === undefined
          ? `--${option} <${knownBy}>  the ${name} by its ${knownBy}, ${instead}\n`
          : `--${listOption} <${knownBy},…>  ${plural} by ${knownBy}, ${instead}; also --${option} for each\n`,
        scope === undefined ? '' : `--${scope} <domain>  the ${scope} of the ${plural}, if several have the name\n`,
      ]
    })
    .join('')
}

/** Replaces options that name records by options with their ids. @throws {CommandError} as findRecord() does */
export async function idsOf(
  db: Kysely<Tables>,
  kind: RecordKind,
  options: Readonly<Record<string, unknown>>,
): Promise<Record<string, string>> {
  const ids: Record<string, string> = {}
  const [license] = wordsOf(options['license'])
  for (const { field, option, listOption = '', to, scope } of referencesOf(kind)) {
    if (options[option] === undefined && options[listOption] === undefined) continue
    const found = new Set<string>()
    for (const word of [
      ...wordsOf(options[option]),
      ...wordsOf(options[listOption]).flatMap(list => list.split(',')),
    ]) {
      const name = word.trim()
      if (name === '') continue
      found.add(scope === undefined ? (await findRecord(db, to, name)).id : await findGroup(db, name, license))
    }
    ids[optionOf(field)] = [...found].join(',')
  }
  return ids
}

function wordsOf(option: unknown): string[] {
  return [option ?? []].flat().map(String)
}
