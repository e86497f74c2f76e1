/** What a request waits for at most, in milliseconds where nothing else is said. */
export interface Limits {
  /** For a connection: a new one, or one that others have. */
  connection: number
  /** For a query, until the server gives it up. */
  statement: number
  /** For a query, until the server itself is given up. */
  answer: number
  /** How many queries may wait for a connection: each keeps its request in memory, and more could not be answered in time. */
  waiting: number
  /** For an answer to the listener, whose questions are small. */
  listener: number
  /** Between two of its questions: with that limit, how soon a silent server is noticed. */
  beat: number
}

export const defaultLimits: Limits = {
  connection: 5000,
  statement: 10_000,
  answer: 12_000,
  waiting: 1000,
  listener: 2000,
  beat: 1000,
}
