/** An error in one field of a record. */
export interface FieldError {
  /** Empty if the record as a whole is wrong. */
  field: string
  /** A sentence without its full stop. */
  message: string
}

/** How many errors a description lists. */
const mostTold = 20

/** Describes the errors in one sentence. */
export function describeFieldErrors(errors: readonly FieldError[]): string {
  const told = errors.slice(0, mostTold).map(({ message }) => message)
  if (errors.length > mostTold) told.push(`and ${errors.length - mostTold} more`)
  return `${told.join('; ')}.`
}
