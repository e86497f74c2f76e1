import type { LogEvent } from 'kysely'
import { type QueryEvents, queryPlumbing } from '../../../src/database/query-events.ts'
import {
  captureCallSite,
  currentRecorder,
  isForeign,
  type Location,
  looksSecret,
  masked,
  type OpenSpan,
  originalLocation,
  type Recorder,
  toMicroseconds,
} from 'fastify-profiler'
import { keptParameters, type Room } from './query-parameters.ts'
import { Repetitions } from './query-repetitions.ts'
import { maskQuery } from './query-secrets.ts'
import { nameOfStatement } from './sql.ts'

/** One query of a request. Times are milliseconds. */
export interface QueryRecord {
  /** Null until the query has ended. */
  sql: string | null
  parameters: unknown[]
  /** Since the start of the request. */
  start: number
  /** Duration without the wait for a connection; null if the query had not ended when the profile was made. */
  duration: number | null
  /** The wait for a connection. */
  waited: number
  /** Null if the query failed or its rows are unknown. */
  rows: number | null
  error: string | null
  /** The caller, or for a precompiled query the line that compiled it; null for Kysely's own queries. */
  location: Location | null
}

/** The queries of one request: the first in full, and totals of all. */
export interface RequestQueries {
  first: QueryRecord[]
  count: number
  failed: number
  rows: number
  duration: number
  /** The longest wait of a single query. */
  waited: number
  repetitions: Repetitions
  /** What is left for parameters. */
  room: Room
}

interface Asked {
  recorder: Recorder
  span: OpenSpan
  record: QueryRecord
  /** Whether the record is among the first, which are kept in full. */
  isKept: boolean
  at: number
}

/** Queries kept per request, since a panel's data holds 2,000 values. */
const mostKept = 100
/** Spans per request. More would push its hooks off the timeline. */
const mostSpans = 1000
const room: Room = { values: 500, characters: 200_000 }

const noSpan: OpenSpan = { id: null, end() {} }

/** Records the queries of each profiled request. */
export class QueryLog {
  readonly #asked = new WeakMap<object, Asked>()
  readonly #ended = new WeakMap<object, Asked>()
  /** Where each query was compiled, since a compiled query may be sent again. */
  readonly #compiled = new WeakMap<object, Location>()
  readonly #requests = new WeakMap<Recorder, RequestQueries>()
  /** Original locations by compiled ones. Mapping one costs more than the rest of a query's bookkeeping. */
  readonly #places = new Map<string, Location>()

  /** @returns a function that stops listening */
  listen(events: QueryEvents): () => void {
    const ask = (queryId: object) => this.#ask(queryId)
    const end = (account: LogEvent) => this.#end(account)
    const count = (queryId: object, rows: number) => this.#count(queryId, rows)
    events.on('asked', ask).on('ended', end).on('returned', count)
    return () => {
      events.off('asked', ask).off('ended', end).off('returned', count)
    }
  }

  of(recorder: Recorder): RequestQueries | null {
    return this.#requests.get(recorder) ?? null
  }

  #ask(queryId: object): void {
    const called = captureCallSite(captureCallSite, isNotTheCaller)
    const location = called === null ? null : this.#place(called)
    if (location !== null) this.#compiled.set(queryId, location)
    const recorder = currentRecorder()
    if (recorder === undefined || recorder.finished) return
    this.#asked.set(queryId, this.#open(recorder, location, performance.now()))
  }

  #open(recorder: Recorder, location: Location | null, at: number): Asked {
    const queries = this.#queriesOf(recorder)
    const span = queries.count < mostSpans ? recorder.span({ kind: 'query', name: 'query', location }) : noSpan
    if (span === noSpan) recorder.note(`Only the first ${mostSpans} queries are on the timeline.`)
    const record = {
      sql: null,
      parameters: [],
      start: toMicroseconds(recorder.now()),
      duration: null,
      waited: 0,
      rows: null,
      error: null,
      location,
    }
    const isKept = queries.count++ < mostKept
    if (isKept) queries.first.push(record)
    return { recorder, span, record, isKept, at }
  }

  #queriesOf(recorder: Recorder): RequestQueries {
    const known = this.#requests.get(recorder)
    if (known !== undefined) return known
    const queries = {
      first: [],
      count: 0,
      failed: 0,
      rows: 0,
      duration: 0,
      waited: 0,
      repetitions: new Repetitions(),
      room: { ...room },
    }
    this.#requests.set(recorder, queries)
    return queries
  }

  #end(account: LogEvent): void {
    const { query, queryDurationMillis: duration } = account
    const asked = this.#whoAsked(query.queryId, duration)
    if (asked === null) return
    const { recorder, span, record, isKept, at } = asked
    const queries = this.#queriesOf(recorder)
    const { sql, parameters, secrets } = maskQuery(query.sql, query.parameters)
    for (const secret of secrets) if (looksSecret(secret)) recorder.conceal(secret)
    const error = account.level === 'error' ? errorText(account.error, secrets) : null
    span.end(error === null ? 'continued' : 'threw', { name: nameOfStatement(sql), detail: sql })

    const waited = Math.max(0, performance.now() - at - duration)
    Object.assign(record, { sql, duration: toMicroseconds(duration), waited: toMicroseconds(waited), error })
    queries.duration += duration
    queries.waited = Math.max(queries.waited, waited)
    if (error !== null) queries.failed++
    if (isKept) record.parameters = keptParameters(parameters, queries.room)
    queries.repetitions.add(sql, query.parameters, record.location, duration)
    this.#ended.set(query.queryId, asked)
  }

  /** Other requests may send a compiled query again. Only its first run belongs to the request that compiled it. */
  #whoAsked(queryId: object, duration: number): Asked | null {
    const recorder = currentRecorder()
    const asked = this.#asked.get(queryId)
    this.#asked.delete(queryId)
    if (asked !== undefined && (recorder === undefined || recorder === asked.recorder)) return asked
    if (recorder === undefined || recorder.finished) return null
    return this.#open(recorder, this.#compiled.get(queryId) ?? null, performance.now() - duration)
  }

  #count(queryId: object, rows: number): void {
    const asked = this.#asked.get(queryId) ?? this.#ended.get(queryId)
    if (asked === undefined) return
    // A streamed result is reported in parts.
    asked.record.rows = (asked.record.rows ?? 0) + rows
    this.#queriesOf(asked.recorder).rows += rows
  }

  #place(called: Location): Location {
    const key = `${called.file}:${called.line}:${called.column}`
    const known = this.#places.get(key)
    if (known !== undefined) return known
    const location = originalLocation(called)
    this.#places.set(key, location)
    return location
  }
}

/** The text of an error, with the secrets it may quote masked. */
function errorText(error: unknown, secrets: readonly string[]): string {
  return secrets.reduce((text, secret) => (secret === '' ? text : text.replaceAll(secret, masked)), String(error))
}

/** Skips the frames that pass a query on, to find its caller. */
function isNotTheCaller(file: string): boolean {
  return isForeign(file) || file === import.meta.filename || queryPlumbing.has(file)
}
