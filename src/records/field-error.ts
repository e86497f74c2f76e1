/** What is wrong with one field of what was written. */
export interface FieldError {
  /** Empty: with the whole. */
  field: string
  /** A sentence without its full stop. */
  message: string
}

/** How many are told at once. */
const mostTold = 20

/** All of them in one sentence. */
export function describeFieldErrors(errors: readonly FieldError[]): string {
  const told = errors.slice(0, mostTold).map(({ message }) => message)
  if (errors.length > mostTold) told.push(`and ${errors.length - mostTold} more`)
  return `${told.join('; ')}.`
}
