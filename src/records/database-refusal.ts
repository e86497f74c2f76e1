import pg from 'pg'
import { ConflictHttpError, type HttpError, UnprocessableContentHttpError } from '../errors/http-errors.ts'
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
    return new ConflictHttpError(`There is already a ${kind.name} with this ${field}.`, {
      cause: error,
      members: { errors: [{ field, message: `${field} is taken` }] },
    })
  }
  const message = `${field} names a ${refersTo} that does not exist`
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
