import { Type, type TProperties, type TSchema } from 'typebox'
import { id } from '../../src/records/fields.ts'
import type { RecordKind } from '../../src/records/record-kind.ts'

const mostOnPage = 200
const longestCursor = 2000

/** The path parameters of a route for one record. */
export function recordParams(kind: RecordKind) {
  return Type.Object({ id: Type.String({ ...id(`The id of the ${kind.name}.`), examples: [kind.examples.id] }) })
}

/** The request headers of a change or removal. */
export const changeHeaders = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      description: 'The ETag of the version to change. If the record has changed since, the request fails (412).',
    }),
  ),
})

/** The query of a list: its filters, its order and its page. */
export function listQuery(kind: RecordKind) {
  const filters = Object.fromEntries(
    Object.entries(kind.filters).map(([name, { schema }]) => [name, Type.Optional(schema)]),
  )
  const order = kind.sorts.flatMap(name => [name, `-${name}`])
  return Type.Object(
    {
      ...(filters satisfies TProperties),
      sort: Type.Optional(
        Type.Enum(order, {
          type: 'string',
          default: 'id',
          description: 'The field to sort by. A "-" in front sorts in descending order.',
        }),
      ),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: mostOnPage, default: 50, description: 'The number of records per page.' }),
      ),
      cursor: Type.Optional(
        Type.String({
          maxLength: longestCursor,
          description: 'The "next" of the previous page, for the same "sort".',
        }),
      ),
      _locale: Type.Optional(
        Type.String({
          description: 'The language of the answer, as on every page of a site. It does not translate records.',
        }),
      ),
    },
    { additionalProperties: false },
  )
}

export function listPage(kind: RecordKind) {
  return Type.Object(
    {
      items: Type.Array(kind.schema),
      next: Type.Union([Type.String(), Type.Null()], {
        description: 'The "cursor" of the next page, or null on the last page.',
      }),
    },
    { description: `A page of ${kind.plural}.` },
  )
}

const ETag = Type.String({ description: 'Changes with the content. Send it back in If-Match or If-None-Match.' })
const Location = Type.String({ description: 'The path of the added record.' })

/** The schema of an answer with an ETag. */
export function tagged<Schema extends TSchema>(schema: Schema) {
  return { ...schema, headers: { ETag } }
}

/** The schema of an answer with an ETag and a Location. */
export function located<Schema extends TSchema>(schema: Schema) {
  return { ...schema, headers: { ETag, Location } }
}

const problemSchema = Type.Object({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String({ description: 'The problem, as a sentence.' }),
  errors: Type.Optional(
    Type.Array(Type.Object({ field: Type.String(), message: Type.String() }), {
      description: 'The invalid fields.',
    }),
  ),
})

/** The schema of an error. */
export const problem = {
  description:
    'The request is refused: 400 invalid, 401 not signed in, 403 not an admin, 404 no such record, 409 in conflict with other records, 412 not the current version, 413 too large, 415 not JSON, 422 refers to a record that does not exist.',
  content: { 'application/problem+json': { schema: problemSchema } },
}
