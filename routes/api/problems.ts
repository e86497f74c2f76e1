import { STATUS_CODES } from 'node:http'
import { Type } from 'typebox'
import { exampleId } from '../../src/records/fields.ts'
import type { RecordKind } from '../../src/records/record-kind.ts'

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

interface ProblemExample {
  detail: string
  errors?: readonly { field: string; message: string }[]
}

/** Documents an answer with a problem. Routes spread it into their response schemas. */
export function problem(status: number, description: string, example: ProblemExample, headers?: object) {
  return {
    [status]: {
      description,
      ...(headers !== undefined && { headers }),
      content: {
        'application/problem+json': {
          schema: problemSchema,
          example: { type: 'about:blank', title: STATUS_CODES[status], status, ...example },
        },
      },
    },
  }
}

/** @param what is malformed, such as "The query" */
export function malformed(what: string, field: string, message: string) {
  return problem(400, `${what} is malformed.`, aboutField(field, `${field} ${message}`))
}

/** Nobody is signed in, or somebody who may not do this. */
export const notAdmitted = {
  ...problem(
    401,
    'Nobody is signed in, and this needs an admin, or a user who may enter the site.',
    { detail: 'Sign in as an admin.' },
    { 'WWW-Authenticate': Type.String({ description: 'How to sign in.' }) },
  ),
  ...problem(403, 'The user may not do this, or the request came from another site.', {
    detail: 'Only admins may do this, and you are signed in as visitor@museum.example.',
  }),
}

export function missing({ name }: RecordKind) {
  return problem(404, `There is no such ${name}.`, { detail: `There is no ${name} ${exampleId}.` })
}

/** Another record has the same value of a unique field. */
export function taken({ name, constraints }: RecordKind) {
  const unique = Object.values(constraints).find(({ refersTo }) => refersTo === undefined)
  if (unique === undefined) return {}
  const { field } = unique
  const detail = `Another ${name} has this ${field}.`
  return problem(409, detail, { detail, errors: [{ field, message: `${field} is taken` }] })
}

/** The record has to stay. */
export function needed({ name, removalRefusal }: RecordKind) {
  if (removalRefusal === undefined) return {}
  return problem(409, `The ${name} cannot be removed.`, { detail: removalRefusal })
}

/** A precondition failed. */
export const outdated = problem(412, 'The record is not the version that If-Match or If-None-Match asks for.', {
  detail: 'If-Match does not match the current ETag, which is "Zz6LqGuZlb0dlW0Vq9XUEmVzZVk".',
})

export const unreadable = {
  ...problem(413, 'The body is too large.', { detail: 'Request body is too large' }),
  ...problem(415, 'The body is not JSON.', { detail: 'Unsupported Media Type' }),
}

/** A field refers to a record that does not exist. */
export function dangling({ constraints }: RecordKind) {
  const reference = Object.values(constraints).find(({ refersTo }) => refersTo !== undefined)
  if (reference?.refersTo === undefined) return {}
  const { field, refersTo } = reference
  return problem(
    422,
    'A field refers to a record that does not exist.',
    aboutField(field, `${field} names no existing ${refersTo.name}`),
  )
}

const retryAfter = { 'Retry-After': Type.Integer({ description: 'The seconds to wait.' }) }

/** The site's license is not valid any more. */
export const closed = problem(410, 'The site has closed to everybody but admins.', {
  detail: 'This site closed on Sat, 31 Jan 2026 12:00:00 GMT.',
})

/** Only requests with an invalid API token are counted. */
export const tooManyTokens = problem(
  429,
  'There were too many requests with an invalid API token.',
  { detail: 'Too many requests with an invalid API token. Try again in 42 seconds.' },
  retryAfter,
)

export const unavailable = problem(
  503,
  'The database cannot be reached, the change met another one, or the server is overloaded: trying again later helps. ' +
    'Or the site is suspended or not open yet, except to admins.',
  { detail: 'This site is temporarily unavailable.' },
  { 'Retry-After': Type.Integer({ description: 'The seconds to wait. A suspended site does not say it.' }) },
)

function aboutField(field: string, message: string): ProblemExample {
  return { detail: `${message}.`, errors: [{ field, message }] }
}
