import { type TSchema, Type } from 'typebox'
import { exampleId } from '../../src/records/fields.ts'
import { keywordsOf } from '../../src/records/validation.ts'
import type { RecordKind } from '../../src/records/record-kind.ts'
import { listPage, recordSchema } from './record-schemas.ts'

const ETag = Type.String({ description: 'Changes with the content. Send it back in If-Match or If-None-Match.' })
const Location = Type.String({ description: 'The path of the added record.' })

/** Documents an answer with one record. */
export function recordAnswer(kind: RecordKind, changes: Readonly<Record<string, unknown>> = {}) {
  return answer(`The ${kind.name}.`, recordSchema(kind), { ...exampleOf(kind), ...changes }, { ETag })
}

/** Documents the answer to an addition. */
export function addedAnswer(kind: RecordKind) {
  return answer(`The ${kind.name} has been added.`, recordSchema(kind), exampleOf(kind), { ETag, Location })
}

/** Documents an answer with a page of records. */
export function pageAnswer(kind: RecordKind) {
  const example = { items: [exampleOf(kind)], next: null }
  return answer(`A page of ${kind.plural}.`, listPage(kind), example, { ETag })
}

/** Documents an answer without content. */
export function emptyAnswer(description: string, headers: object = {}) {
  return { ...Type.Null(), description, headers }
}

/** Documents the answer to If-None-Match. */
export const unchanged = emptyAnswer('The content has the ETag that If-None-Match names.', { ETag })

/** Documents an answer with an ETag. */
export function taggedAnswer<Schema extends TSchema>(description: string, schema: Schema, example: unknown) {
  return answer(description, schema, example, { ETag })
}

function answer<Schema extends TSchema>(description: string, schema: Schema, example: unknown, headers: object) {
  return { description, headers, content: { 'application/json': { schema, example } } }
}

/** The values of fields that the database sets, by type and format. Those of all others are null. */
const generated: Readonly<Record<string, unknown>> = {
  'string id': exampleId,
  'string date-time': '2026-01-31T12:00:00.000Z',
  'boolean undefined': false,
  'array undefined': [],
}

/** A record as it would be after it was added by the example of its kind. */
function exampleOf({ schema, examples: { create } }: RecordKind): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema.properties).map(([name, field]) => {
      const { type, format } = keywordsOf(field)
      return [name, name in create ? create[name] : (generated[`${String(type)} ${String(format)}`] ?? null)]
    }),
  )
}
