/** Nothing was restored. */
export class RestoreRefusedError extends Error {
  override readonly name = 'RestoreRefusedError'
  /** The line that is wrong, from 1, or undefined if the database is. */
  readonly line: number | undefined

  /** @param reason a sentence */
  constructor(line: number | undefined, reason: string) {
    super(reason)
    this.line = line
  }
}
