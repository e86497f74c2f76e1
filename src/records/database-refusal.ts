import pg from 'pg'
import { ConflictHttpError, type HttpError, UnprocessableContentHttpError } from '../errors/http-errors.ts'
import type { RecordKind } from './record-kind.ts'

const uniqueViolation = '23505'
const foreignKeyViolation = '23503'

/** What the database's refusal of a written record means to whoever wrote it; undefined: it is no refusal. */
export function refusedWrite(kind: RecordKind, error: unknown): HttpError | undefined {
  if (!(error instanceof pg.DatabaseError) || (error.code !== uniqueViolation && error.code !== foreignKeyViolation)) {
    return undefined
  }
  const constraint = kind.constraints[String(error.constraint)]
  if (constraint === undefined) return undefined
  const { field, refersTo } = constraint
  if (refersTo === undefined) {
    return new ConflictHttpError(`There is a ${kind.name} with this ${field} already.`, {
      cause: error,
      members: { errors: [{ field, message: `${field} is taken` }] },
    })
  }
  const message = `${field} names a ${refersTo} that does not exist`
  return new UnprocessableContentHttpError(`${message}.`, { cause: error, members: { errors: [{ field, message }] } })
}

/** The same of a removal: other records refer to it. */
export function refusedRemoval(kind: RecordKind, error: unknown): HttpError | undefined {
  if (!(error instanceof pg.DatabaseError) || error.code !== foreignKeyViolation) return undefined
  return new ConflictHttpError(
    `This ${kind.name} is still in use: ${String(error.table).replaceAll('_', ' ')} refer to it.`,
    { cause: error },
  )
}
