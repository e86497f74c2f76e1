import { Type } from 'typebox'
import { camelCase, schemaNamesOf } from '../../src/records/distinct-kinds.ts'
import { id } from '../../src/records/fields.ts'
import { ordersOf, type RecordKind } from '../../src/records/record-kind.ts'
import {
  addedAnswer,
  dangling,
  emptyAnswer,
  malformed,
  missing,
  needed,
  outdated,
  recordAnswer,
  recordListAnswers,
  refusals,
  taken,
  unchanged,
  unreadable,
} from './answers.ts'

const mostOnPage = 200
const longestCursor = 2000

const malformedId = malformed('The id', 'id', 'must be an id: a whole number from 1 to 9223372036854775807, as text')

/** The schema of the operation that lists records. */
export function listSchema(kind: RecordKind) {
  const description = 'A record has to match all filters. The "next" of a page is the "cursor" of the following one.'
  return {
    ...operation('list', kind, kind.plural, `${readersOf(kind)} ${description}`),
    security: securityOf(kind),
    querystring: listQuery(kind),
    headers: listHeaders,
    response: recordListAnswers(kind),
  }
}

/** The schema of the operation that reads one record. */
export function readSchema(kind: RecordKind) {
  return {
    ...operation('read', kind, kind.name, readersOf(kind)),
    security: securityOf(kind),
    params: recordParams(kind),
    headers: Type.Object({
      'if-none-match': ifNoneMatch,
      'if-match': Type.Optional(Type.String({ description: 'The only ETag that the client wants.' })),
    }),
    response: {
      200: recordAnswer(kind),
      304: unchanged,
      ...malformedId,
      ...missing(kind),
      ...outdated,
      ...refusals,
    },
  }
}

/** The schema of the operation that adds a record. The schema of its body has a name: "LicenseInput". */
export function addSchema(kind: RecordKind) {
  return {
    ...operation('add', kind, kind.name, 'For admins. Takes effect on the next request.'),
    body: { ...kind.create, title: schemaNamesOf(kind).input },
    response: {
      201: addedAnswer(kind),
      ...malformed('The record', kind.knownBy, 'is missing'),
      ...taken(kind),
      ...unreadable,
      ...dangling(kind),
      ...refusals,
    },
  }
}

/** The schema of the operation that changes a record. The schema of its body has a name: "LicenseChange". */
export function changeSchema(kind: RecordKind) {
  const description = 'For admins. Fields that are not sent stay as they are. Takes effect on the next request.'
  return {
    ...operation('change', kind, kind.name, description),
    consumes: ['application/json', 'application/merge-patch+json'],
    params: recordParams(kind),
    headers: changeHeaders,
    body: { ...kind.change, title: schemaNamesOf(kind).change },
    response: {
      200: recordAnswer(kind, kind.examples.change),
      ...malformed('The id or a field', kind.knownBy, 'must not be empty'),
      ...missing(kind),
      ...taken(kind),
      ...outdated,
      ...unreadable,
      ...dangling(kind),
      ...refusals,
    },
  }
}

/** The schema of the operation that removes a record. */
export function removeSchema(kind: RecordKind) {
  return {
    ...operation('remove', kind, kind.name, 'For admins. What belongs to the record is removed with it.'),
    params: recordParams(kind),
    headers: changeHeaders,
    response: {
      204: emptyAnswer(`The ${kind.name} has been removed.`),
      ...malformedId,
      ...missing(kind),
      ...needed(kind),
      ...outdated,
      ...refusals,
    },
  }
}

/**
 * Names an operation in the documentation.
 * @param object what it acts on: the kind's name or, for several records, its plural
 */
function operation(verb: string, kind: RecordKind, object: string, description: string) {
  const number = object === kind.name ? 'one ' : ''
  return {
    tags: [kind.plural],
    operationId: verb + camelCase(object),
    summary: `${camelCase(verb)} ${number}${object}`,
    description,
  }
}

/** Says who may read these records. */
function readersOf({ open, plural }: RecordKind): string {
  return open ? `Visitors see only the ${plural} of the site's license. Admins see all.` : 'For admins.'
}

/** Who may read this kind: everybody, or only users who are signed in. */
function securityOf({ open }: RecordKind) {
  const credentials = [{ session: [] }, { token: [] }]
  return open ? [{}, ...credentials] : credentials
}

/** The path parameters of a route for one record. No example is filled in: it could be the id of a record. */
function recordParams(kind: RecordKind) {
  return Type.Object({ id: id(`The id of the ${kind.name}.`) })
}

const ifNoneMatch = Type.Optional(
  Type.String({
    description: 'The ETag of the answer that the client has. If it is still the same, it is not sent again.',
  }),
)

/** The request headers of a list. */
const listHeaders = Type.Object({ 'if-none-match': ifNoneMatch })

/** The request headers of a change or removal. */
const changeHeaders = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      description: 'The ETag of the version to change. If the record has changed since, the request fails (412).',
    }),
  ),
})

/** The part of a list's query that selects a page. */
const paging = {
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
  return Type.Object(
    {
      ...kind.query.properties,
      sort: Type.Optional(
        Type.Enum(ordersOf(kind), {
          type: 'string',
          default: kind.usualSort,
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
