import { Type, type TSchema, type TSchemaOptions } from 'typebox'
import type { formats } from './formats.ts'

/** Some formats' names are JSON Schema's own; of all of them formats.ts says what they are. */
type Format = keyof typeof formats

/** In characters: what the columns hold. */
const longestName = 255
const longestLanguageTag = 35

/** How many records one may be linked to. */
const mostLinks = 500

function text(format: Format, options: TSchemaOptions & { minLength?: number; maxLength: number }) {
  return Type.String({ format, ...options })
}

/** An id: text, as JavaScript's numbers hold only 53 bits of it. */
export function id(description: string) {
  return text('id', { maxLength: 19, description })
}

/** The ids of records that this one is linked to. */
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

export function host(description: string) {
  return text('host', { maxLength: longestName, description })
}

export function languageTag(description: string) {
  return text('language-tag', { maxLength: longestLanguageTag, description })
}

export function email(description: string, maxLength: number) {
  return text('email', { maxLength, description })
}

/** What is written, and never read again. */
export function password(description: string, minLength: number, maxLength: number) {
  return text('secret', { minLength, maxLength, description, writeOnly: true })
}

export function flag(description: string) {
  return Type.Boolean({ description })
}

/** What the database may lack. */
export function orNull<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}

/** A time that the database sets. */
export function time(description: string) {
  return Type.String({ format: 'date-time', description, readOnly: true })
}
