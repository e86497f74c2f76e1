/** The longest waits of a request, in milliseconds unless stated otherwise. */
export interface Limits {
  /** For a new or a free connection. */
  connection: number
  /** For a query, until the server cancels it. */
  statement: number
  /** For a query, until the connection is given up. */
  answer: number
  /** How many queries may wait for a connection. Each keeps its request in memory, and more would time out. */
  waiting: number
  /** For the answer to a listener's query. */
  listener: number
  /** Between two heartbeats of the listener. A silent server is noticed within heartbeat + listener. */
  heartbeat: number
}

export const defaultLimits: Limits = {
  connection: 5000,
  statement: 10_000,
  answer: 12_000,
  waiting: 1000,
  listener: 2000,
  heartbeat: 1000,
}
