import { STATUS_CODES } from 'node:http'
import { type TSchema, Type } from 'typebox'
import { camelCase, schemaNamesOf } from '../../src/records/distinct-kinds.ts'
import { exampleId, id } from '../../src/records/fields.ts'
import { ordersOf, type RecordKind } from '../../src/records/record-kind.ts'
import { isNullable, keywordsOf } from '../../src/records/validation.ts'

const mostOnPage = 200
const longestCursor = 2000

// The schemas of the operations on a kind of records, from which the API's document is made. Bodies and answers have
// names there by their titles: "LicenseInput".

export function listSchema(kind: RecordKind) {
  const description = 'A record has to match all filters. The "next" of a page is the "cursor" of the following one.'
  const next = Type.Union([Type.String(), Type.Null()], {
    description: 'The "cursor" of the next page, or null on the last page.',
  })
  const total = Type.Integer({ minimum: 0, description: 'The number of matching records on all pages, if asked for.' })
  const page = `A page of ${kind.plural}.`
  const pageSchema = Type.Object(
    { items: Type.Array(recordSchema(kind)), next, total: Type.Optional(total) },
    { title: schemaNamesOf(kind).page, description: page },
  )
  return {
    ...operation('list', kind, kind.plural, `${readersOf(kind)} ${description}`),
    security: securityOf(kind),
    querystring: listQuery(kind),
    headers: Type.Object({ 'if-none-match': ifNoneMatch }),
    response: {
      200: answer(page, pageSchema, { items: [exampleOf(kind)], next: null }),
      304: unchanged,
      ...malformed('The query', 'limit', 'must be at most 200'),
      ...refusals,
    },
  }
}

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

export function addSchema(kind: RecordKind) {
  return {
    ...operation('add', kind, kind.name, 'For admins. Takes effect on the next request.'),
    body: { ...kind.create, title: schemaNamesOf(kind).input },
    response: {
      201: answer(`The ${kind.name} has been added.`, recordSchema(kind), exampleOf(kind), {
        ETag,
        Location: Type.String({ description: 'The path of the added record.' }),
      }),
      ...malformed('The record', kind.knownBy, 'is missing'),
      ...taken(kind),
      ...unreadable,
      ...dangling(kind),
      ...refusals,
    },
  }
}

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

export function removeSchema(kind: RecordKind) {
  const { name, removalRefusal } = kind
  return {
    ...operation('remove', kind, name, 'For admins. What belongs to the record is removed with it.'),
    params: recordParams(kind),
    headers: changeHeaders,
    response: {
      204: emptyAnswer(`The ${name} has been removed.`),
      ...malformedId,
      ...missing(kind),
      ...(removalRefusal === undefined ? {} : problem(409, `The ${name} cannot be removed.`, removalRefusal)),
      ...outdated,
      ...refusals,
    },
  }
}

/** @param object what the operation acts on: the kind's name or, for several records, its plural */
function operation(verb: string, kind: RecordKind, object: string, description: string) {
  const number = object === kind.name ? 'one ' : ''
  return {
    tags: [kind.plural],
    operationId: verb + camelCase(object),
    summary: `${camelCase(verb)} ${number}${object}`,
    description,
  }
}

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

const changeHeaders = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      description: 'The ETag of the version to change. If the record has changed since, the request fails (412).',
    }),
  ),
})

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

const ETag = Type.String({ description: 'Changes with the content. Send it back in If-Match or If-None-Match.' })

function recordAnswer(kind: RecordKind, changes: Readonly<Record<string, unknown>> = {}) {
  return answer(`The ${kind.name}.`, recordSchema(kind), { ...exampleOf(kind), ...changes })
}

function answer<Schema extends TSchema>(
  description: string,
  schema: Schema,
  example: unknown,
  headers: object = { ETag },
) {
  return { description, headers, content: { 'application/json': { schema, example } } }
}

function emptyAnswer(description: string, headers: object = {}) {
  return { ...Type.Null(), description, headers }
}

const unchanged = emptyAnswer('The content has the ETag that If-None-Match names.', { ETag })

/** A record as it is read: "License". */
function recordSchema(kind: RecordKind) {
  return { ...kind.schema, title: schemaNamesOf(kind).record }
}

/** The values of fields that the database sets, by type and format. */
const generated: Readonly<Record<string, unknown>> = {
  'string id': exampleId,
  'string date-time': '2026-01-31T12:00:00.000Z',
  'boolean undefined': false,
  'array undefined': [],
}

/** A record as it would be after it was added by the example of its kind. */
function exampleOf({ schema, examples: { create, change } }: RecordKind): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema.properties).map(([name, field]) => {
      const { type, format } = keywordsOf(field)
      const usual = isNullable(field) ? null : (generated[`${String(type)} ${String(format)}`] ?? change[name] ?? null)
      return [name, name in create ? create[name] : usual]
    }),
  )
}

const problemSchema = Type.Object(
  {
    type: Type.String({ description: 'Always "about:blank": the status says what kind of problem it is.' }),
    title: Type.String({ description: "The status's name." }),
    status: Type.Integer({ description: 'The status of the answer.' }),
    detail: Type.String({ description: 'The problem, as a sentence.' }),
    errors: Type.Optional(
      Type.Array(Type.Object({ field: Type.String(), message: Type.String() }), {
        description: 'The fields that are wrong.',
      }),
    ),
  },
  { title: 'Problem', description: 'A problem detail (RFC 9457).' },
)

/** Documents an answer with a problem. Routes spread it into their response schemas. */
export function problem(status: number, description: string, detail: string, headers?: object, members?: object) {
  return {
    [status]: {
      description,
      ...(headers !== undefined && { headers }),
      content: {
        'application/problem+json': {
          schema: problemSchema,
          example: { type: 'about:blank', title: STATUS_CODES[status], status, detail, ...members },
        },
      },
    },
  }
}

function fieldProblem(status: number, description: string, field: string, message: string, detail = `${message}.`) {
  return problem(status, description, detail, undefined, { errors: [{ field, message }] })
}

/** @param what is malformed, such as "The query" */
function malformed(what: string, field: string, message: string) {
  return fieldProblem(400, `${what} is malformed.`, field, `${field} ${message}`)
}

/** Any operation may be refused like this. */
const refusals = {
  ...problem(
    401,
    'Nobody is signed in, and this needs an admin, or a user who may enter the site.',
    'Sign in as an admin.',
    { 'WWW-Authenticate': Type.String({ description: 'How to sign in.' }) },
  ),
  ...problem(
    403,
    'The user may not do this, or the request came from another site.',
    'Only admins may do this, and you are signed in as visitor@museum.example.',
  ),
  ...problem(410, 'The site has closed to everybody but admins.', 'This site closed on Sat, 31 Jan 2026 12:00:00 GMT.'),
  // Only requests with an invalid API token are counted.
  ...problem(
    429,
    'There were too many requests with an invalid API token.',
    'Too many requests with an invalid API token. Try again in 42 seconds.',
    { 'Retry-After': Type.Integer({ description: 'The seconds to wait.' }) },
  ),
  ...problem(
    503,
    'The database cannot be reached, the change met another one, or the server is overloaded: trying again later helps. ' +
      'Or the site is suspended or not open yet, except to admins.',
    'This site is temporarily unavailable.',
    { 'Retry-After': Type.Integer({ description: 'The seconds to wait. A suspended site does not say it.' }) },
  ),
}

function missing({ name }: RecordKind) {
  return problem(404, `There is no such ${name}.`, `There is no ${name} ${exampleId}.`)
}

function taken({ name, constraints }: RecordKind) {
  const unique = Object.values(constraints).find(({ refersTo }) => refersTo === undefined)
  if (unique === undefined) return {}
  const detail = `Another ${name} has this ${unique.field}.`
  return fieldProblem(409, detail, unique.field, `${unique.field} is taken`, detail)
}

const outdated = problem(
  412,
  'The record is not the version that If-Match or If-None-Match asks for.',
  'If-Match does not match the current ETag, which is "Zz6LqGuZlb0dlW0Vq9XUEmVzZVk".',
)

const unreadable = {
  ...problem(413, 'The body is too large.', 'Request body is too large'),
  ...problem(415, 'The body is not JSON.', 'Unsupported Media Type'),
}

function dangling({ constraints }: RecordKind) {
  const reference = Object.values(constraints).find(({ refersTo }) => refersTo !== undefined)
  if (reference?.refersTo === undefined) return {}
  const { field, refersTo } = reference
  const message = `${field} names no existing ${refersTo.name}`
  return fieldProblem(422, 'A field refers to a record that does not exist.', field, message)
}

const malformedId = malformed('The id', 'id', 'must be an id: a whole number from 1 to 9223372036854775807, as text')
