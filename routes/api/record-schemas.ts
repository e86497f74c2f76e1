import { type TProperties, type TSchema, Type } from 'typebox'
import { id } from '../../src/records/fields.ts'
import { schemaNamesOf } from '../../src/records/distinct-kinds.ts'
import type { RecordKind } from '../../src/records/record-kind.ts'

/** The pattern requires an id, so that a list's path with a trailing slash is still the list. */
export const onePath = '/:id(.+)'

/** In bytes. Longer than any record. */
export const bodyLimit = 64 * 1024

const mostOnPage = 200
const longestCursor = 2000

/** Who may read this kind: everybody, or only users who are signed in. */
export function securityOf({ open }: RecordKind) {
  const credentials = [{ session: [] }, { token: [] }]
  return open ? [{}, ...credentials] : credentials
}

/** A record as it is read: "License". */
export function recordSchema(kind: RecordKind) {
  return titled(kind.schema, schemaNamesOf(kind).record)
}

/** A record as it is added: "LicenseInput". */
export function inputSchema(kind: RecordKind) {
  return titled(kind.create, schemaNamesOf(kind).input)
}

/** The fields to change: "LicenseChange". */
export function changeSchema(kind: RecordKind) {
  return titled(kind.change, schemaNamesOf(kind).change)
}

function titled<Schema extends TSchema>(schema: Schema, title: string) {
  return { ...schema, title }
}

/** The path parameters of a route for one record. No example is filled in: it could be the id of a record. */
export function recordParams(kind: RecordKind) {
  return Type.Object({ id: id(`The id of the ${kind.name}.`) })
}

const ifNoneMatch = Type.Optional(
  Type.String({
    description: 'The ETag of the answer that the client has. If it is still the same, it is not sent again.',
  }),
)

/** The request headers of a list. */
export const listHeaders = Type.Object({ 'if-none-match': ifNoneMatch })

/** The request headers of a record. */
export const readHeaders = Type.Object({
  'if-none-match': ifNoneMatch,
  'if-match': Type.Optional(Type.String({ description: 'The only ETag that the client wants.' })),
})

/** The request headers of a change or removal. */
export const changeHeaders = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      description: 'The ETag of the version to change. If the record has changed since, the request fails (412).',
    }),
  ),
})

/** The part of a list's query that selects a page. */
export const paging = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: mostOnPage, default: 50, description: 'The number of records per page.' }),
  ),
  cursor: Type.Optional(
    Type.String({
      maxLength: longestCursor,
      description: 'The "next" of the previous page of this list, in the same order.',
    }),
  ),
  _locale: Type.Optional(
    Type.String({
      description: 'The language of the answer, as on every page of a site. It does not translate records.',
    }),
  ),
}

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
      ...paging,
      total: Type.Optional(
        Type.Boolean({
          default: false,
          description: 'Whether to count the matching records on all pages. Slow if there are many.',
        }),
      ),
    },
    { additionalProperties: false },
  )
}

/** A page of records: "LicensePage". */
export function listPage(kind: RecordKind) {
  const total = Type.Integer({ minimum: 0, description: 'The number of matching records on all pages, if asked for.' })
  return pageOf(recordSchema(kind), schemaNamesOf(kind).page, `A page of ${kind.plural}.`, {
    total: Type.Optional(total),
  })
}

/** The schema of a page of a list. */
export function pageOf<Item extends TSchema, More extends TProperties>(
  item: Item,
  title: string,
  description: string,
  more: More,
) {
  return Type.Object(
    {
      items: Type.Array(item),
      next: Type.Union([Type.String(), Type.Null()], {
        description: 'The "cursor" of the next page, or null on the last page.',
      }),
      ...more,
    },
    { title, description },
  )
}
