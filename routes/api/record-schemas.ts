import { Type, type TProperties, type TSchema } from 'typebox'
import { id } from '../../src/records/fields.ts'
import type { RecordKind } from '../../src/records/record-kind.ts'

const mostOnPage = 200
const longestCursor = 2000

/** The path's parameter of a route about one record. */
export function recordParams(kind: RecordKind) {
  return Type.Object({ id: Type.String({ ...id(`The id of the ${kind.name}.`), examples: [kind.examples.id] }) })
}

/** What a request that changes something may say of what it is to change. */
export const changeHeaders = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      description: 'The ETag of the record as it is thought to be; where it is not, nothing is changed (412).',
    }),
  ),
})

/** The query of a list: its filters, its order, and which part of it. */
export function listQuery(kind: RecordKind) {
  const filters = Object.fromEntries(
    Object.entries(kind.filters).map(([name, { schema }]) => [name, Type.Optional(schema)]),
  )
  const order = kind.sorts.flatMap(name => [name, `-${name}`])
  return Type.Object(
    {
      ...(filters satisfies TProperties),
      sort: Type.Optional(
        Type.Enum(order, { type: 'string', default: 'id', description: 'What to sort by; with a "-", downwards.' }),
      ),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: mostOnPage, default: 50, description: 'How many to tell at once.' }),
      ),
      cursor: Type.Optional(
        Type.String({
          maxLength: longestCursor,
          description: 'The "next" of the answer before; with the same "sort".',
        }),
      ),
      _locale: Type.Optional(
        Type.String({ description: 'The language to answer in, as on every page of a site; records have their own.' }),
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
        description: 'The "cursor" to ask for more with; null: there are no more.',
      }),
    },
    { description: `${kind.plural}, and where there are more.` },
  )
}

const ETag = Type.String({ description: 'Another one for each state: what If-Match and If-None-Match name.' })
const Location = Type.String({ description: 'The path of what was added.' })

/** An answer with what its headers are. */
export function tagged<Schema extends TSchema>(schema: Schema) {
  return { ...schema, headers: { ETag } }
}

/** The answer to an addition, with what its headers are. */
export function located<Schema extends TSchema>(schema: Schema) {
  return { ...schema, headers: { ETag, Location } }
}

const problemSchema = Type.Object({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String({ description: 'What is wrong, in a sentence.' }),
  errors: Type.Optional(
    Type.Array(Type.Object({ field: Type.String(), message: Type.String() }), {
      description: 'What is wrong with each field.',
    }),
  ),
})

/** What is answered where a request is refused. */
export const problem = {
  description:
    'The request is refused: 400 malformed, 401 not signed in, 403 no admin, 404 no such record, 409 in conflict with other records, 412 not the current state, 413 too long, 415 no JSON, 422 refers to what does not exist.',
  content: { 'application/problem+json': { schema: problemSchema } },
}
