/** A command that is not understood, as a sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
