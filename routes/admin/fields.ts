import { isDeepStrictEqual } from 'node:util'
import type { Kysely } from 'kysely'
import type { TProperties, TSchema } from 'typebox'
import type { Tables } from '../../src/database/tables.ts'
import { type Offer, offer } from '../../src/records/names.ts'
import { type RecordKind, referencesOf } from '../../src/records/record-kind.ts'
import type { AnyRecord } from '../../src/records/repository.ts'
import { fromText, valueOf } from '../../src/records/validation.ts'

export interface Field {
  readonly name: string
  /** In English. */
  readonly label: string
  readonly schema: TSchema
  readonly isRequired: boolean
  readonly to: RecordKind | undefined
  readonly isList: boolean
  /** Whether the order of a list counts. */
  readonly isOrdered: boolean
}

export function fieldsOf(kind: RecordKind, properties: TProperties): Field[] {
  const references = referencesOf(kind)
  return Object.entries(properties).map(([name, schema]) => {
    const reference = references.find(({ field }) => field === name)
    return {
      name,
      label: labelOf(reference?.listOption ?? name),
      schema,
      isRequired: kind.create.required?.includes(name) === true,
      to: reference?.to,
      isList: reference?.listOption !== undefined,
      isOrdered: kind.links[name]?.position !== undefined,
    }
  })
}

/** The words of a name: "license_id" becomes "license". */
export function labelOf(name: string): string {
  return name.replace(/_id$/, '').replaceAll('_', ' ')
}

/** The texts of fields as a form has them. A list has one for each item. */
export type Entered = ReadonlyMap<string, readonly string[]>

/** The texts that were sent under a name, or undefined if there are none. */
export function textsIn(sent: unknown, name: string): string[] | undefined {
  const value: unknown = typeof sent === 'object' && sent !== null ? Reflect.get(sent, name) : undefined
  const texts = [value].flat().filter(text => typeof text === 'string')
  return texts.length === 0 ? undefined : texts.map(withoutReturns)
}

/** A browser sends each line with a carriage return, whether the record has one or not. */
function withoutReturns(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

/** The form's field for the item of a list that comes first, and the one to search for records. */
export const firstOf = (name: string) => `first.${name}`
export const searchFor = (name: string) => `find.${name}`

export function readEntered(fields: readonly Field[], sent: unknown): Entered {
  const entered = new Map<string, readonly string[]>()
  for (const { name, isList } of fields) {
    const texts = textsIn(sent, name)
    if (texts === undefined) continue
    // A browser sends no box that is not checked, so the form also has an empty text.
    const ids = texts.filter(id => id !== '')
    const first = textsIn(sent, firstOf(name))?.filter(id => ids.includes(id)) ?? []
    entered.set(name, isList ? [...first, ...ids.filter(id => !first.includes(id))] : texts.slice(-1))
  }
  return entered
}

/** What a form shows of a record, or shows at first if there is none. */
export function enteredOf(fields: readonly Field[], record: Partial<AnyRecord> = {}): Entered {
  return new Map(fields.map(field => [field.name, textsOf(field, record[field.name])]))
}

function textsOf({ isList, schema }: Field, value: unknown): string[] {
  if (value === null || value === undefined) return isList ? [] : ['']
  const texts = [value].flat().map(String).map(withoutReturns)
  if (isList) return texts
  const text = texts.join(', ')
  return [valueOf(schema).format === 'date-time' ? text.replace(/(?::00)?(?:\.0+)?Z$/, '') : text]
}

/** The values by which a form differs from what it showed. Others stay as they are, or have their default. */
export function valuesIn(fields: readonly Field[], entered: Entered, record?: AnyRecord): Record<string, unknown> {
  const shown = enteredOf(fields, record)
  const filled = fields.flatMap((field): [string, unknown][] => {
    const texts = entered.get(field.name)
    return texts === undefined || isDeepStrictEqual(texts, shown.get(field.name))
      ? []
      : [[field.name, valueFrom(field, texts)]]
  })
  return Object.fromEntries(filled)
}

/** A time without a zone, as browsers send it. */
export const localTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(?:\.\d+)?)?$/

function valueFrom({ isList, schema }: Field, texts: readonly string[]): unknown {
  const [text = ''] = texts
  if (isList) return texts
  const time = valueOf(schema).format === 'date-time' && localTime.exec(text)
  return fromText(schema, time ? `${text}${time[1] === undefined ? ':00' : ''}Z` : text)
}

export type Offers = ReadonlyMap<string, Offer>

export async function offersFor(db: Kysely<Tables>, fields: readonly Field[], entered: Entered, sent: unknown) {
  const offers = new Map<string, Offer>()
  for (const { name, to } of fields) {
    const chosen = entered.get(name)?.filter(id => id !== '') ?? []
    if (to !== undefined) offers.set(name, await offer(db, to, chosen, textsIn(sent, searchFor(name))?.at(-1) ?? ''))
  }
  return offers
}

/** Whether a form asks for records to choose from, and is not to be saved yet. */
export function isSearching(fields: readonly Field[], sent: unknown): boolean {
  return fields.some(({ name, to }) => to !== undefined && textsIn(sent, searchFor(name))?.some(text => text !== ''))
}
