import type { LogEvent } from 'kysely'
import type { QueryEvents } from '../../src/database/query-events.ts'
import { captureCallSite, currentRecorder, isForeign, type OpenSpan, type Recorder } from './profiler/index.ts'

/** One query of a request. Times are milliseconds. */
export interface QueryRecord {
  /** Id of its span, which has its SQL, its place in the code and its start; null where the profile was full. */
  span: number | null
  parameters: readonly unknown[]
  /** How long it took once it had a connection. */
  duration: number
  /** How long it waited for one. */
  waited: number
  /** Null: it failed, or nothing is known of its rows. */
  rows: number | null
  error: string | null
}

/** The queries of one request: the first of them in full, and how many there were. */
export interface RequestQueries {
  first: QueryRecord[]
  count: number
}

interface Asked {
  recorder: Recorder
  span: OpenSpan
  at: number
}

/** How many queries of one request are kept. */
const mostKept = 500

/** Hears of every query that is asked while a request is profiled, and keeps it under the request. */
export class QueryLog {
  readonly #asked = new WeakMap<object, Asked>()
  readonly #records = new WeakMap<object, QueryRecord>()
  readonly #requests = new WeakMap<Recorder, RequestQueries>()

  /** @returns the function that stops it */
  listen (events: QueryEvents): () => void {
    const ask = (queryId: object) => this.#ask(queryId)
    const end = (account: LogEvent) => this.#end(account)
    const count = (queryId: object, rows: number) => this.#count(queryId, rows)
    events.on('asked', ask).on('ended', end).on('returned', count)
    return () => { events.off('asked', ask).off('ended', end).off('returned', count) }
  }

  of (recorder: Recorder): RequestQueries {
    return this.#requests.get(recorder) ?? { first: [], count: 0 }
  }

  #ask (queryId: object): void {
    const recorder = currentRecorder()
    if (recorder === undefined) return
    const location = captureCallSite(captureCallSite, isNotTheCaller)
    this.#asked.set(queryId, { recorder, span: recorder.span({ kind: 'query', name: 'query', location }), at: performance.now() })
  }

  #end (account: LogEvent): void {
    const { query, queryDurationMillis: duration } = account
    const asked = this.#asked.get(query.queryId) ?? askedByKysely(duration)
    if (asked === null) return
    const { recorder, span, at } = asked
    const error = account.level === 'error' ? String(account.error) : null
    span.end(error === null ? 'continued' : 'threw', { name: nameOf(query.sql), detail: query.sql })
    const waited = Math.max(0, performance.now() - at - duration)
    this.#keep(recorder, query.queryId, { span: span.id, parameters: query.parameters, duration, waited, rows: null, error })
  }

  #keep (recorder: Recorder, queryId: object, record: QueryRecord): void {
    const queries = this.of(recorder)
    if (queries.count++ < mostKept) queries.first.push(record)
    this.#requests.set(recorder, queries)
    this.#records.set(queryId, record)
  }

  #count (queryId: object, rows: number): void {
    const record = this.#records.get(queryId)
    if (record !== undefined) record.rows = rows
  }
}

/** A transaction's begin and commit, which Kysely asks itself, and tells of only when they are over. */
function askedByKysely (duration: number): Asked | null {
  const recorder = currentRecorder()
  if (recorder === undefined) return null
  return { recorder, span: recorder.span({ kind: 'query', name: 'query' }), at: performance.now() - duration }
}

/** Where queries are told of is not where they are asked. */
function isNotTheCaller (file: string): boolean {
  return isForeign(file) || /[\\/]query-(?:log|events)\.[jt]s$/.test(file)
}

/** "select licenses": the verb, and the first table that is named. */
function nameOf (sql: string): string {
  const [, verb = 'query'] = /^\W*(\w+)/.exec(sql) ?? []
  const [, table = ''] = /\b(?:from|into|update|table)\s+"?(\w+)/i.exec(sql) ?? []
  return `${verb.toLowerCase()} ${table}`.trim()
}
