import { STATUS_CODES } from 'node:http'
import { type TSchema, Type } from 'typebox'
import { schemaNamesOf } from '../../src/records/distinct-kinds.ts'
import { exampleId } from '../../src/records/fields.ts'
import type { RecordKind } from '../../src/records/record-kind.ts'
import { isNullable, keywordsOf } from '../../src/records/validation.ts'

const ETag = Type.String({ description: 'Changes with the content. Send it back in If-Match or If-None-Match.' })
const Location = Type.String({ description: 'The path of the added record.' })
const RetryAfter = Type.Integer({ description: 'The seconds to wait.' })

/** Documents an answer with one record. */
export function recordAnswer(kind: RecordKind, changes: Readonly<Record<string, unknown>> = {}) {
  return taggedAnswer(`The ${kind.name}.`, recordSchema(kind), { ...exampleOf(kind), ...changes })
}

/** Documents the answer to an addition. */
export function addedAnswer(kind: RecordKind) {
  return answer(`The ${kind.name} has been added.`, recordSchema(kind), exampleOf(kind), { ETag, Location })
}

/** Documents the answers of a list of records. */
export function recordListAnswers(kind: RecordKind) {
  const description = `A page of ${kind.plural}.`
  const next = Type.Union([Type.String(), Type.Null()], {
    description: 'The "cursor" of the next page, or null on the last page.',
  })
  const total = Type.Integer({ minimum: 0, description: 'The number of matching records on all pages, if asked for.' })
  const page = Type.Object(
    { items: Type.Array(recordSchema(kind)), next, total: Type.Optional(total) },
    { title: schemaNamesOf(kind).page, description },
  )
  return {
    200: taggedAnswer(description, page, { items: [exampleOf(kind)], next: null }),
    304: unchanged,
    ...malformed('The query', 'limit', 'must be at most 200'),
    ...refusals,
  }
}

/** Documents an answer without content. */
export function emptyAnswer(description: string, headers: object = {}) {
  return { ...Type.Null(), description, headers }
}

/** Documents the answer to If-None-Match. */
export const unchanged = emptyAnswer('The content has the ETag that If-None-Match names.', { ETag })

function taggedAnswer<Schema extends TSchema>(description: string, schema: Schema, example: unknown) {
  return answer(description, schema, example, { ETag })
}

function answer<Schema extends TSchema>(description: string, schema: Schema, example: unknown, headers: object) {
  return { description, headers, content: { 'application/json': { schema, example } } }
}

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
export function malformed(what: string, field: string, message: string) {
  return fieldProblem(400, `${what} is malformed.`, field, `${field} ${message}`)
}

/** Any operation may be refused like this. */
export const refusals = {
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
    { 'Retry-After': RetryAfter },
  ),
  ...problem(
    503,
    'The database cannot be reached, the change met another one, or the server is overloaded: trying again later helps. ' +
      'Or the site is suspended or not open yet, except to admins.',
    'This site is temporarily unavailable.',
    { 'Retry-After': Type.Integer({ description: 'The seconds to wait. A suspended site does not say it.' }) },
  ),
}

export function missing({ name }: RecordKind) {
  return problem(404, `There is no such ${name}.`, `There is no ${name} ${exampleId}.`)
}

/** Another record has the same value of a unique field. */
export function taken({ name, constraints }: RecordKind) {
  const unique = Object.values(constraints).find(({ refersTo }) => refersTo === undefined)
  if (unique === undefined) return {}
  const detail = `Another ${name} has this ${unique.field}.`
  return fieldProblem(409, detail, unique.field, `${unique.field} is taken`, detail)
}

/** The record has to stay. */
export function needed({ name, removalRefusal }: RecordKind) {
  return removalRefusal === undefined ? {} : problem(409, `The ${name} cannot be removed.`, removalRefusal)
}

/** A precondition failed. */
export const outdated = problem(
  412,
  'The record is not the version that If-Match or If-None-Match asks for.',
  'If-Match does not match the current ETag, which is "Zz6LqGuZlb0dlW0Vq9XUEmVzZVk".',
)

export const unreadable = {
  ...problem(413, 'The body is too large.', 'Request body is too large'),
  ...problem(415, 'The body is not JSON.', 'Unsupported Media Type'),
}

/** A field refers to a record that does not exist. */
export function dangling({ constraints }: RecordKind) {
  const reference = Object.values(constraints).find(({ refersTo }) => refersTo !== undefined)
  if (reference?.refersTo === undefined) return {}
  const { field, refersTo } = reference
  const message = `${field} names no existing ${refersTo.name}`
  return fieldProblem(422, 'A field refers to a record that does not exist.', field, message)
}
