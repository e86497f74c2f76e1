import pg from 'pg'
import {
  BadRequestHttpError,
  ConflictHttpError,
  type HttpError,
  UnprocessableContentHttpError,
} from '../errors/http-errors.ts'
import { invalidCursor, type Position } from './cursor.ts'
import type { RecordKind } from './record-kind.ts'

const uniqueViolation = '23505'
const foreignKeyViolation = '23503'

/** The HTTP error for a write that violates a constraint of its kind, or undefined for any other error. */
export function refusedWrite(kind: RecordKind, error: unknown): HttpError | undefined {
  if (!(error instanceof pg.DatabaseError) || (error.code !== uniqueViolation && error.code !== foreignKeyViolation)) {
    return undefined
  }
  const constraint = kind.constraints[String(error.constraint)]
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
  return new ConflictHttpError(
    `This ${kind.name} is still in use: ${String(error.table).replaceAll('_', ' ')} refer to it.`,
    { cause: error },
  )
}

/**
 * The HTTP error for a list that is asked for by a value that is none of its column's type (class 22), or undefined for
 * any other error. Only the database knows the types of all columns.
 * @param after the position that the cursor says, if there is one
 */
export function refusedList(after: Position | undefined, error: unknown): HttpError | undefined {
  if (!(error instanceof pg.DatabaseError) || !String(error.code).startsWith('22')) return undefined
  return after === undefined
    ? new BadRequestHttpError('A filter has a value that no record can have.', { cause: error })
    : invalidCursor({ cause: error })
}
