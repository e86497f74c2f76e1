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
  /** Null: not known before the query is over. */
  sql: string | null
  parameters: unknown[]
  /** Since the request came in. */
  start: number
  /** How long it took once it had a connection; null: it was not over when the profile was made. */
  duration: number | null
  /** How long it waited for one. */
  waited: number
  /** Null: it failed, or nothing is known of its rows. */
  rows: number | null
  error: string | null
  /** Where it was asked for, or where it was compiled if it was sent again; null for what Kysely asks itself. */
  location: Location | null
}

/** The queries of one request: the first of them in full, and what they come to in all. */
export interface RequestQueries {
  first: QueryRecord[]
  count: number
  failed: number
  rows: number
  duration: number
  /** The longest wait of one. */
  waited: number
  repetitions: Repetitions
  /** For parameters. */
  room: Room
}

interface Asked {
  recorder: Recorder
  span: OpenSpan
  record: QueryRecord
  /** Whether the record is among those that are kept. */
  isKept: boolean
  at: number
}

/** Of one request, so that it stays within the 2,000 values of a panel's data. */
const mostKept = 100
/** Of one request: more would leave no room on its timeline for its hooks. */
const mostSpans = 1000
const room: Room = { values: 500, characters: 200_000 }

const noSpan: OpenSpan = { id: null, end() {} }

/** Hears of every query that is asked while a request is profiled, and keeps it under the request. */
export class QueryLog {
  readonly #asked = new WeakMap<object, Asked>()
  readonly #ended = new WeakMap<object, Asked>()
  /** Where a query was compiled, which may be sent again by whoever keeps it. */
  readonly #compiled = new WeakMap<object, Location>()
  readonly #requests = new WeakMap<Recorder, RequestQueries>()
  /** Places of the code, which are few: mapping one to its source costs more than a query's other bookkeeping. */
  readonly #places = new Map<string, Location>()

  /** @returns the function that stops it */
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

  /** A compiled query may be sent again and again, by other requests too: only its first end is that of whoever compiled it. */
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
    // What is streamed comes in parts.
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

/** What an error says, without the parameters that it may quote. */
function errorText(error: unknown, secrets: readonly string[]): string {
  return secrets.reduce((text, secret) => (secret === '' ? text : text.replaceAll(secret, masked)), String(error))
}

/** Where queries are told of is not where they are asked. */
function isNotTheCaller(file: string): boolean {
  return isForeign(file) || file === import.meta.filename || queryPlumbing.has(file)
}
