import pg from 'pg'
import {
  BadRequestHttpError,
  ConflictHttpError,
  type HttpError,
  UnprocessableContentHttpError,
} from '../errors/http-errors.ts'
import { reasonOf } from '../errors/start-error.ts'
import type { RecordKind } from './record-kind.ts'
import { invalid } from './validation.ts'

// What the database's refusals of records mean to clients.

const notNullViolation = '23502'
const uniqueViolation = '23505'
const foreignKeyViolation = '23503'

/**
 * The HTTP error for a write that violates a constraint of its kind, or that has a value that its column cannot have.
 * Undefined for any other error.
 * @param fields the fields that were to be written
 */
export function refusedWrite(kind: RecordKind, fields: readonly string[], error: unknown): HttpError | undefined {
  if (isAboutValue(error)) {
    return unfitValue('A field', fields, error, `: ${characterReasons[error.code ?? ''] ?? reasonOf(error)}`)
  }
  if (!(error instanceof pg.DatabaseError)) return undefined
  const { code, column = '' } = error
  // Its table has no default for an optional field.
  if (code === notNullViolation && column in kind.change.properties) {
    return invalid([{ field: column, message: `${column} is missing` }])
  }
  if (code !== uniqueViolation && code !== foreignKeyViolation) return undefined
  const constraint = kind.constraints[error.constraint ?? '']
  if (constraint === undefined) return undefined
  const { field, refersTo } = constraint
  if (refersTo === undefined) {
    return new ConflictHttpError(`Another ${kind.name} has this ${field}.`, {
      cause: error,
      members: { errors: [{ field, message: `${field} is taken` }] },
    })
  }
  const message = `${field} names no existing ${refersTo.name}`
  return new UnprocessableContentHttpError(`${message}.`, { cause: error, members: { errors: [{ field, message }] } })
}

/** The HTTP error for removing a record that others refer to, or undefined for any other error. */
export function refusedRemoval(kind: RecordKind, error: unknown): HttpError | undefined {
  if (!(error instanceof pg.DatabaseError) || error.code !== foreignKeyViolation) return undefined
  return new ConflictHttpError(`This ${kind.name} is still in use: ${error.table?.replaceAll('_', ' ')} refer to it.`, {
    cause: error,
  })
}

/**
 * The HTTP error for a list that is asked for by a value that its column cannot have, or undefined for any other error.
 * Only the database knows the types of all columns.
 */
export function refusedList(filters: readonly string[], hasCursor: boolean, error: unknown): HttpError | undefined {
  const fields = hasCursor ? [...filters, 'cursor'] : filters
  if (!isAboutValue(error) || fields.length === 0) return undefined
  const withCursor = filters.length === 0 ? 'The cursor' : 'The cursor or a filter'
  return unfitValue(hasCursor ? withCursor : 'A filter', fields, error)
}

/**
 * Whether the database refuses a value: for its type (class 22, without 2200H: a sequence has no more ids), or because
 * it is too long for an index.
 */
function isAboutValue(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && /^(?:22(?!00H)|54000)/.test(error.code ?? '')
}

/** PostgreSQL's own messages do not say which character is meant. JavaScript's text has no other that it refuses. */
const characterReasons: Readonly<Record<string, string>> = { '22021': 'a NUL character', '22P05': 'a NUL character' }

/** @param fields the fields that may have the value. The database does not say which, so only a single one is named. */
function unfitValue(subject: string, fields: readonly string[], cause: pg.DatabaseError, reason = ''): HttpError {
  const predicate = `has a value that no record can have${reason}`
  const errors = fields.map(field => ({ field, message: `${field} ${predicate}` }))
  return new BadRequestHttpError(`${subject} ${predicate}.`, { cause, members: fields.length === 1 ? { errors } : {} })
}
