import { type TProperties, Type, type TSchema, type TSchemaOptions } from 'typebox'
import type { formats } from './validation.ts'

/** Some names are JSON Schema's own, but validation.ts defines all of them. */
type Format = keyof typeof formats

/** In characters, as in the check constraints of the columns. */
const longestName = 255
const longestLanguageTag = 35
const longestMoment = 40
const longestUrl = 2000

/** How many records a record may be linked to. */
const mostLinks = 500

function text(format: Format, options: TSchemaOptions & { minLength?: number; maxLength: number }) {
  return Type.String({ format, ...options })
}

/** An id for examples: of no record, because ids count up from 1, and not a number that JavaScript can hold. */
export const exampleId = '9007199254740993'

/** An id as text, because a JavaScript number holds only 53 bits of a bigint. */
export function id(description: string) {
  return text('id', { maxLength: 19, description })
}

/** The ids of linked records. */
export function ids(description: string) {
  return Type.Array(Type.String({ format: 'id', maxLength: 19 }), {
    maxItems: mostLinks,
    uniqueItems: true,
    description,
  })
}

/** One line of text. */
export function line(description: string) {
  return text('line', { minLength: 1, maxLength: longestName, description })
}

/** Text of several lines. */
export function lines(description: string, maxLength = 10_000) {
  return text('text', { minLength: 1, maxLength, description })
}

/** A number. A field of whole numbers is an integer(). */
export function number(description: string, range: Range = {}) {
  return Type.Number({ ...range, description })
}

export function integer(description: string, range: Range = {}) {
  return Type.Integer({ ...range, description })
}

interface Range {
  minimum?: number
  maximum?: number
}

/** A day without a time, for a column of the type date. */
export function day(description: string) {
  return text('date', { maxLength: longestMoment, description })
}

/** One of several words. */
export function choice<const Word extends string>(description: string, words: readonly Word[]) {
  return Type.Enum([...words], { type: 'string', description })
}

/** The beginning of a text, to search by. */
export function prefix(description: string) {
  return text('prefix', { minLength: 1, maxLength: longestName, description })
}

export function host(description: string) {
  return text('host', { maxLength: longestName, description })
}

/** The address of a page on the web. */
export function url(description: string) {
  return text('uri', { maxLength: longestUrl, description })
}

export function languageTag(description: string) {
  return text('language-tag', { maxLength: longestLanguageTag, description })
}

export function email(description: string, maxLength: number) {
  return text('email', { maxLength, description })
}

/** A password, which can be written but never read. */
export function password(description: string, minLength: number, maxLength: number) {
  return text('secret', { minLength, maxLength, description, writeOnly: true })
}

export function flag(description: string) {
  return Type.Boolean({ description })
}

/** A field that is null in some records. */
export function orNull<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}

/** A time that is null in some records. */
export function timeOrNull(description: string) {
  return Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', description })
}

/** A day or a time, to filter by. */
export function moment(description: string) {
  return text('moment', { maxLength: longestMoment, description })
}

/** A time. Among the fields that the database sets, it cannot be written. */
export function time(description: string) {
  return Type.String({ format: 'date-time', description })
}

/** The fields, which can be read and not written. */
export function readOnly<Fields extends TProperties>(fields: Fields): Fields
export function readOnly(fields: TProperties): TProperties {
  return Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, { ...schema, readOnly: true }]))
}
