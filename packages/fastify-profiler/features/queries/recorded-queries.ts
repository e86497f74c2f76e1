import { textOf } from '../../core/foreign-value.ts'
import { masked } from '../../core/mask/known-secrets.ts'
import type { Mask } from '../../core/mask/mask.ts'
import {
  type DatabaseUse,
  type Json,
  type Location,
  type Query,
  type Repetition,
  toMicroseconds,
} from '../../core/profile.ts'
import { Attachment } from '../../core/watch/attachment.ts'
import type { OpenSpan, Recorder } from '../../core/watch/recorder.ts'
import { keptParameters, type Room } from '../request/known-values.ts'
import { maskQuery } from './bound-values.ts'
import { Repetitions, type RepeatedQuery } from './repetitions.ts'
import { factsOf } from './statement.ts'

/** One query of a request, as its driver told of it. Times are milliseconds. */
export interface RecordedQuery extends RepeatedQuery {
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
const queriesKept = 100

/** Spans of queries. More would push the hooks of the request off the timeline. */
export const querySpans = 1000

const recorded = new Attachment<RecordedQueries>()

/** The queries that a recorder has recorded; null if there were none. */
export function recordedQueries({ records }: Recorder): RecordedQueries | null {
  return recorded.get(records) ?? null
}

/** Those that it records from now on. */
export function queriesOf(recorder: Recorder): RecordedQueries {
  const known = recordedQueries(recorder)
  if (known !== null) return known
  const made = new RecordedQueries()
  recorded.set(recorder.records, made)
  return made
}

/** The queries of one request: the first in full, and totals of all. */
class RecordedQueries {
  readonly first: RecordedQuery[] = []
  readonly repetitions = new Repetitions()
  count = 0
  failed = 0
  rows = 0
  duration = 0
  /** The longest wait of a single query. */
  waited = 0
  transactions = 0
  /** The transaction that is open on each connection. */
  readonly #open = new WeakMap<object, number>()

  begin(query: RecordedQuery): void {
    this.count++
    if (this.first.length < queriesKept) this.first.push(query)
  }

  /** The query has its connection. */
  send(query: RecordedQuery, connection: object): void {
    const { transaction } = factsOf(query.statement)
    if (transaction === 'begin' && !this.#open.has(connection)) this.#open.set(connection, ++this.transactions)
    query.transaction = this.#open.get(connection) ?? null
    if (transaction === 'end') this.#open.delete(connection)
  }

  /** The application has its answer. @param result what the library returned; undefined if that is unknown */
  end(query: RecordedQuery, result: unknown): void {
    const { duration, waited, rows, failure } = query
    if (failure !== null) this.failed++
    this.rows += rows ?? 0
    this.duration += duration ?? 0
    this.waited = Math.max(this.waited, waited)
    this.repetitions.end(query, result)
  }
}

/** What a driver knows of a query when it begins. */
export interface AskedQuery {
  system: string
  statement: string
  parameters: readonly unknown[]
  /**
   * The connection that it is sent on, one query after the other. Null if queries share it, and for a query builder or
   * a pool, whose driver sends the query later.
   */
  connection: object | null
  /** The caller, if the library has lost it from the stack. Default: looked for on the stack. */
  location?: Location | null | undefined
}

/** Limits of all parameters of a request. */
const parametersKept: Room = { values: 500, characters: 200_000 }

/** The queries of a request, masked. */
export function describeQueries(queries: RecordedQueries | null, mask: Mask): DatabaseUse | null {
  if (queries === null) return null
  const { count, failed, rows, duration, waited, transactions, repetitions, first } = queries
  const room = { ...parametersKept }
  return {
    count,
    failed,
    rows,
    duration: toMicroseconds(duration),
    waited: toMicroseconds(waited),
    transactions,
    repetitions: repetitions.found().map(repetition => maskRepetition(repetition, mask)),
    queries: first.map(query => describeQuery(query, room, mask)),
  }
}

function describeQuery(query: RecordedQuery, room: Room, mask: Mask): Query {
  const { system, statement, start, duration, waited, rows, failure, location, transaction } = query
  const { sql, parameters, secrets } = maskQuery(statement, query.parameters)
  return {
    system,
    sql: mask.text(sql),
    parameters: keptParameters(parameters, room).map((parameter): Json => mask.value(parameter)),
    start: toMicroseconds(start),
    duration: duration === null ? null : toMicroseconds(duration),
    waited: toMicroseconds(waited),
    rows: failure === null ? rows : null,
    error: failure === null ? null : mask.text(errorText(failure.error, secrets)),
    location,
    transaction,
  }
}

function maskRepetition(repetition: Repetition, mask: Mask): Repetition {
  const { remedy, sql } = repetition
  const masked = { sql: mask.text(maskQuery(sql, []).sql), ...(remedy !== undefined && { remedy: mask.text(remedy) }) }
  return { ...repetition, ...masked }
}

/** The text of an error, with the secrets it may quote masked. */
function errorText(error: unknown, secrets: readonly string[]): string {
  return secrets.reduce((text, secret) => (secret === '' ? text : text.replaceAll(secret, masked)), textOf(error))
}
