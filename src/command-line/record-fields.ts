import type { Kysely } from 'kysely'
import type { TObject } from 'typebox'
import type { Tables } from '../database/tables.ts'
import { HttpError } from '../errors/http-errors.ts'
import { describeFieldErrors } from '../records/field-error.ts'
import { fromText } from '../records/from-text.ts'
import { formats } from '../records/formats.ts'
import { type Keywords, keywordsOf } from '../records/keywords.ts'
import type { RecordKind } from '../records/record-kind.ts'
import { type AnyRecord, listRecords, readRecord } from '../records/repository.ts'
import { validator } from '../records/validation.ts'
import { CommandError } from './command.ts'

/** A kind as the first word of its commands: "license-type". */
export function wordOf({ name }: RecordKind): string {
  return name.replaceAll(' ', '-')
}

/** A field as an option: "type-id". */
function optionOf(field: string): string {
  return field.replaceAll('_', '-')
}

/** The options that parseArgs has to take for these fields, each with one value. */
export function optionsOf(fields: readonly string[]): Record<string, { type: 'string' }> {
  return Object.fromEntries(fields.map(field => [optionOf(field), { type: 'string' }]))
}

/** The values of fields that were given as options. @throws {CommandError} where they are not what the schema says */
export function readFields(schema: TObject, options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const field of Object.keys(schema.properties)) {
    const text = options[optionOf(field)]
    if (typeof text === 'string') values[field] = fromText(schema, field, text)
  }
  const errors = validator(schema)(values)
  if (errors.length > 0) throw new CommandError(describeFieldErrors(errors))
  return values
}

/** What help says of a schema's fields: a line for each option. */
export function describeFields({ properties }: TObject, fields: readonly string[]): string {
  const options = fields.map(field => {
    const { description, ...schema } = keywordsOf(properties[field])
    return [`--${optionOf(field)} <${placeholderOf(schema)}>`, String(description)] as const
  })
  const width = Math.max(...options.map(([option]) => option.length))
  return options.map(([option, description]) => `${option.padEnd(width)}  ${description}`).join('\n')
}

function placeholderOf({ type, format }: Keywords): string {
  if (type === 'boolean') return 'true|false'
  return type === 'array' ? 'id,id,…' : String(format)
}

/** The one record that has this id, or is known by this. @throws {CommandError} */
export async function findRecord(db: Kysely<Tables>, kind: RecordKind, word: string): Promise<AnyRecord> {
  const byId = formats.id.accepts(word) ? await readRecord(db, kind, word) : undefined
  if (byId !== undefined) return byId
  const {
    records: [first, second],
  } = await listRecords(db, kind, { filters: { [kind.knownBy]: word }, sort: 'id', after: undefined, limit: 2 })
  if (first === undefined) throw new CommandError(`There is no ${kind.name} "${word}".`)
  if (second !== undefined) {
    throw new CommandError(`There are several ${kind.plural} "${word}": give an id, as ${first.id} or ${second.id}.`)
  }
  return first
}

/** Does something that may be refused as the API would refuse it. @throws {CommandError} */
export async function unlessRefused<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act()
  } catch (error) {
    throw error instanceof HttpError ? new CommandError(error.message, { cause: error }) : error
  }
}
