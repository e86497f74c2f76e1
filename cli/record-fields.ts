import type { Kysely } from 'kysely'
import type { TObject, TSchema } from 'typebox'
import type { Tables } from '../src/database/tables.ts'
import { BadRequestHttpError, HttpError, ServiceUnavailableHttpError } from '../src/errors/http-errors.ts'
import { describeFieldErrors, formats, fromText, isNullable, validator, valueOf } from '../src/records/validation.ts'
import type { RecordKind } from '../src/records/record-kind.ts'
import { type AnyRecord, listRecords, readRecord } from '../src/records/repository.ts'
import { CommandError } from './command.ts'

/** The first word of a kind's commands: "license-type". */
export function wordOf({ name }: RecordKind): string {
  return name.replaceAll(' ', '-')
}

/** The option of a field: "type-id". */
export function optionOf(field: string): string {
  return field.replaceAll('_', '-')
}

/** The options of these fields, for parseArgs. */
export function optionsOf(fields: readonly string[]): Record<string, { type: 'string' }> {
  return Object.fromEntries(fields.map(field => [optionOf(field), { type: 'string' }]))
}

/** Completes flags without a value: "--protected" means true, and "--no-protected" false. */
export function completeFlags(words: readonly string[], { properties }: TObject): string[] {
  const flags = Object.keys(properties).filter(field => valueOf(properties[field]).type === 'boolean')
  return words.map((word, index) => {
    if (flags.some(flag => word === `--no-${optionOf(flag)}`)) return `--${word.slice('--no-'.length)}=false`
    const isLast = words[index + 1]?.startsWith('-') ?? true
    return isLast && flags.some(flag => word === `--${optionOf(flag)}`) ? `${word}=true` : word
  })
}

/**
 * Reads fields from options and validates them.
 * @returns the fields that have an option
 * @throws {CommandError} if a value does not match the schema
 */
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

/** The help on a schema's fields: one line per option. */
export function describeFields({ properties }: TObject, fields: readonly string[]): string {
  const options = fields.map(field => {
    const schema = properties[field]
    return [`--${optionOf(field)} <${placeholderOf(schema)}>`, String(valueOf(schema).description)] as const
  })
  const width = Math.max(...options.map(([option]) => option.length))
  return options.map(([option, description]) => `${option.padEnd(width)}  ${description}`).join('\n')
}

function placeholderOf(schema: TSchema | undefined): string {
  const { type = 'value', format } = valueOf(schema)
  const none = isNullable(schema) ? '|none' : ''
  if (type === 'boolean') return `true|false${none}; default: true`
  return type === 'array' ? 'id,id,…' : `${String(format ?? type)}${none}`
}

/**
 * Finds a record by its id or by its kind's knownBy column.
 * @throws {CommandError} if there is no such record, or more than one
 */
export async function findRecord(db: Kysely<Tables>, kind: RecordKind, word: string): Promise<AnyRecord> {
  const byId = formats.id.accepts(word) ? await readRecord(db, kind, word) : undefined
  if (byId !== undefined) return byId
  const listing = { filters: { [kind.knownBy]: word }, sort: 'id', after: undefined, limit: 2 }
  const [first, second] = await listRecords(db, kind, listing).then(({ records }) => records, noneIfUnfit)
  if (first === undefined) throw new CommandError(`There is no ${kind.name} "${word}".`)
  if (second !== undefined) {
    throw new CommandError(`There are several ${kind.plural} "${word}". Use an id such as ${first.id} or ${second.id}.`)
  }
  return first
}

/** No records, if the word has a value that no record can have. */
function noneIfUnfit(error: unknown): AnyRecord[] {
  if (error instanceof BadRequestHttpError) return []
  throw error
}

/** Turns a refusal into a CommandError with the same message. @throws {CommandError} */
export async function unlessRefused<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act()
  } catch (error) {
    const isRefusal = error instanceof HttpError && !(error instanceof ServiceUnavailableHttpError)
    throw isRefusal ? new CommandError(error.message, { cause: error }) : error
  }
}
