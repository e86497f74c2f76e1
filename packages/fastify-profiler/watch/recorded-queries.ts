import type { Location } from '../base/profile.ts'
import { factsOf } from '../base/statement.ts'
import { Repetitions } from './query-repetitions.ts'

import { Attachment } from './attachment.ts'
import type { OpenSpan, Recorder } from './recorder.ts'

/** One query of a request, as its driver told of it. Times are milliseconds. */
export interface RecordedQuery {
  /** "postgresql", "mysql", "sqlite", "mongodb" or "redis". */
  system: string
  readonly statement: string
  parameters: readonly unknown[]
  /** The caller; null if no code of the application is on the stack. */
  location: Location | null
  /** Since the start of the request. */
  readonly start: number
  /** When it had a connection; null before. */
  sent: number | null
  /** Without the wait for a connection; null until it has ended. */
  duration: number | null
  /** The wait for a connection. */
  waited: number
  /** Null if unknown. */
  rows: number | null
  /** What the driver failed with; null for a success. */
  failure: { readonly error: unknown } | null
  /** The number of its transaction in the request; null outside transactions. */
  transaction: number | null
  readonly span: OpenSpan
}

/** Queries listed in full. */
export const queriesKept = 100

/** Spans of queries. More would push the hooks of the request off the timeline. */
export const querySpans = 1000

const recorded = new Attachment<RecordedQueries>()

/** The queries that a recorder has recorded; null if there were none. */
export function recordedQueries({ records }: Recorder): RecordedQueries | null {
  return recorded.get(records) ?? null
}

/** Those that it records from now on. */
export function queriesOf(recorder: Recorder): RecordedQueries {
  const queries = recordedQueries(recorder) ?? new RecordedQueries()
  recorded.set(recorder.records, queries)
  return queries
}

/** The queries of one request: the first in full, and totals of all. */
export class RecordedQueries {
  readonly first: RecordedQuery[] = []
  readonly repetitions = new Repetitions()
  count = 0
  failed = 0
  rows = 0
  duration = 0
  /** The longest wait of a single query. */
  waited = 0
  transactions = 0
  /** Queries of a query builder or a pool whose driver has not sent them yet. */
  #unsent: RecordedQuery[] = []
  /** Those that have been answered, while the builder or the pool has not told the application. */
  #answered: RecordedQuery[] = []
  /** The transaction that is open on each connection. */
  readonly #open = new WeakMap<object, number>()

  get hasUnsent(): boolean {
    return this.#unsent.length > 0
  }

  begin(asked: AskedQuery, location: Location | null, start: number, span: OpenSpan): RecordedQuery {
    const { system, statement, parameters } = asked
    const query = {
      system,
      statement,
      parameters,
      location,
      start,
      sent: null,
      duration: null,
      waited: 0,
      rows: null,
      failure: null,
      transaction: null,
      span,
    }
    this.count++
    if (this.first.length < queriesKept) this.first.push(query)
    this.#unsent.push(query)
    return query
  }

  /** A query with this statement that is not sent yet: that of the builder or pool which called this driver. */
  unsent(statement: string, parameters: readonly unknown[]): RecordedQuery | undefined {
    if (this.#unsent.length === 0) return undefined
    const candidates = this.#unsent.filter(query => query.statement === statement)
    return [...candidates.filter(query => areSame(query.parameters, parameters)), ...candidates].at(0)
  }

  /** The query has its connection. */
  send(query: RecordedQuery, now: number, connection: object | null): void {
    this.#forget(query)
    query.sent = now
    query.waited = now - query.start
    if (connection !== null) query.transaction = this.#transactionOf(query.statement, connection)
  }

  addWait(query: RecordedQuery, waited: number): void {
    query.waited += waited
  }

  /** The driver has its answer. */
  stop(query: RecordedQuery, now: number): void {
    this.#forget(query)
    query.duration = Math.max(0, now - (query.sent ?? query.start))
    this.duration += query.duration
    this.waited = Math.max(this.waited, query.waited)
    this.#answered.push(query)
  }

  /**
   * Gives a query that ends without having been sent the answer of an equal one. Connections may serve equal queries in
   * another order than they were asked in, so that the driver's answer was taken for that of the wrong one.
   */
  takeAnswer(query: RecordedQuery, failure: RecordedQuery['failure']): void {
    const other = this.#answered.find(
      each =>
        each.statement === query.statement &&
        (each.failure === null) === (failure === null) &&
        areSame(each.parameters, query.parameters),
    )
    if (other === undefined) return
    const { start, system, sent, duration, waited, rows, transaction } = other
    Object.assign(query, { system, sent, duration, waited: waited + start - query.start, rows, failure, transaction })
    Object.assign(other, { sent: null, duration: null, waited: 0, rows: null, failure: null, transaction: null })
    this.#unsent.push(other)
    this.#forget(query)
    this.#answered.splice(this.#answered.indexOf(other), 1, query)
  }

  /** The application has its answer. */
  end(query: RecordedQuery): void {
    if (query.failure !== null) this.failed++
    this.#answered.splice(this.#answered.indexOf(query), 1)
    this.repetitions.add(query.statement, query.parameters, query.location, query.duration ?? 0)
  }

  addRows(query: RecordedQuery, rows: number): void {
    query.rows = (query.rows ?? 0) + rows
    this.rows += rows
  }

  #forget(query: RecordedQuery): void {
    const place = this.#unsent.indexOf(query)
    if (place !== -1) this.#unsent.splice(place, 1)
  }

  #transactionOf(statement: string, connection: object): number | null {
    const { transaction } = factsOf(statement)
    if (transaction === 'begin' && !this.#open.has(connection)) this.#open.set(connection, ++this.transactions)
    const open = this.#open.get(connection) ?? null
    if (transaction === 'end') this.#open.delete(connection)
    return open
  }
}

function areSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((value, index) => Object.is(value, others[index]))
}

/** What a driver knows of a query when it begins. */
export interface AskedQuery {
  system: string
  statement: string
  parameters: readonly unknown[]
  /** The connection that it is sent on, one query after the other; null if there is none, or if queries share it. */
  connection: object | null
  /** Whether this is a query builder or a pool, whose driver sends it later. Default: false. */
  isDelegated?: boolean
  /** The caller, if the library has lost it from the stack. Default: looked for on the stack. */
  location?: Location | null | undefined
}
