import { performance } from 'node:perf_hooks'
import { findCaller } from '../../core/call-site.ts'
import type { AnyFunction } from '../../core/foreign-value.ts'
import { driverBoundary } from '../../core/guard.ts'
import type { Location } from '../../core/profile.ts'
import type { OpenSpan, Recorder } from '../../core/watch/recorder.ts'
import { currentRecorder } from '../../core/watch/recorders.ts'
import { secretsInQuery } from './bound-values.ts'
import { type AskedQuery, queriesOf, querySpans, type RecordedQuery } from './recorded-queries.ts'
import { factsOf } from './statement.ts'

/** What is known of a connection: who took it from its pool, and when it was last free. */
interface KnownConnection {
  /** Milliseconds that its holder waited for it and that no query has counted yet. */
  waited: number
  /** When its holder got it, in milliseconds since the start of the request. */
  lent: number
  holder: Recorder | null
  location: Location | null
  /** When its last query ended, by `performance.now()`. */
  freeAt: number
}

const connections = new WeakMap<object, KnownConnection>()

/** The caller of the queries that are sent while this is set. */
let callerHint: Location | null = null

/** Makes a call whose queries have this caller, which the stack no longer tells. */
export function withCaller<Result>(location: Location | null, call: () => Result): Result {
  const before = callerHint
  callerHint = location ?? before
  try {
    return call()
  } finally {
    callerHint = before
  }
}

/** The line of the application that calls `below`; null outside a profiled request. */
export function callerInRequest(below: AnyFunction): Location | null {
  const recorder = currentRecorder()
  if (recorder === undefined || recorder.finished) return null
  return driverBoundary.guard(() => findCaller(below), null)
}

const noSpan: OpenSpan = { id: null, end() {} }

/** A query that a driver has begun. Ending it twice does nothing. */
export class QueryCall {
  readonly recorder: Recorder
  /** Whether another driver sends it. */
  readonly isDelegated: boolean
  readonly #query: RecordedQuery
  readonly #connection: object | null
  /** False for a driver that sends what a query builder or a pool has opened: that ends last. */
  readonly #isOpener: boolean
  #isOver = false

  constructor(
    recorder: Recorder,
    query: RecordedQuery,
    { connection, isDelegated = false }: AskedQuery,
    isOpener: boolean,
  ) {
    this.recorder = recorder
    this.isDelegated = isDelegated
    this.#query = query
    this.#connection = connection
    this.#isOpener = isOpener
  }

  /** @param rows the rows that it has returned or changed; null if it is unknown */
  end(rows: number | null): void {
    driverBoundary.guard(() => this.#end(rows, null), undefined)
  }

  fail(error: unknown): void {
    driverBoundary.guard(() => this.#end(null, { error }), undefined)
  }

  #end(rows: number | null, failure: RecordedQuery['failure']): void {
    const query = this.#query
    const { recorder } = this
    if (recorder.finished || this.#isOver) return
    this.#isOver = true
    const queries = queriesOf(recorder)
    if (this.isDelegated && query.sent === null) queries.takeAnswer(query, failure)
    if (rows !== null && query.rows === null) queries.addRows(query, rows)
    query.failure ??= failure
    if (query.duration === null) {
      const now = recorder.now()
      if (this.#connection !== null) waitForPredecessor(query, this.#connection, now)
      queries.stop(query, now)
    }
    if (!this.#isOpener) return
    // Whoever awaits a query is on the stack again when it ends, even if its sender was not.
    query.location ??= findCaller(findCaller)
    queries.end(query)
    // Learnt at once, since only the first queries are kept.
    for (const secret of secretsInQuery(query.statement, query.parameters)) recorder.conceal(secret)
    query.span.end(query.failure === null ? 'continued' : 'threw', { location: query.location })
  }
}

/**
 * Records that a query begins. A query builder, a pool and a driver may all tell of the same one, which is recorded
 * once, with the caller of the first.
 * @param below the driver's function that the caller has called
 * @returns null outside a profiled request
 */
export function beginQuery(asked: AskedQuery, below: AnyFunction): QueryCall | null {
  const recorder = currentRecorder()
  if (recorder === undefined || recorder.finished) return null
  return driverBoundary.guard(() => begin(recorder, asked, below), null)
}

function begin(recorder: Recorder, asked: AskedQuery, below: AnyFunction): QueryCall {
  const { connection, isDelegated = false, parameters, statement } = asked
  const queries = queriesOf(recorder)
  const unsent = isDelegated ? undefined : queries.unsent(statement, parameters)
  const query = unsent ?? open(recorder, asked, below)
  if (!isDelegated) {
    query.system = asked.system
    queries.send(query, unsent === undefined ? query.start : recorder.now(), connection)
    if (connection !== null) addWait(recorder, query, connection)
    if (query.parameters.length === 0) query.parameters = parameters
  }
  return new QueryCall(recorder, query, asked, unsent === undefined)
}

function open(recorder: Recorder, asked: AskedQuery, below: AnyFunction): RecordedQuery {
  const queries = queriesOf(recorder)
  const { connection, statement } = asked
  const holder = connection === null ? undefined : connections.get(connection)
  const location = asked.location ?? callerHint ?? findCaller(below) ?? holder?.location ?? null
  const { name } = factsOf(statement)
  const isOnTimeline = queries.count < querySpans
  const span = isOnTimeline ? recorder.span({ kind: 'query', name, detail: statement, location }) : noSpan
  if (!isOnTimeline) recorder.note(`Only the first ${querySpans} queries are on the timeline.`)
  return queries.begin(asked, location, recorder.now(), span)
}

/** Adds the time that the request has waited for a connection of its own, to the first query on it. */
function addWait(recorder: Recorder, query: RecordedQuery, connection: object): void {
  const known = connections.get(connection)
  if (known === undefined || known.holder !== recorder) return
  // The query of a pool begins before it has a connection, so that its time has the wait already.
  if (query.start >= known.lent) queriesOf(recorder).addWait(query, known.waited)
  known.waited = 0
}

/** A connection sends one query at a time, so this one waited until the one before it had ended. */
function waitForPredecessor(query: RecordedQuery, connection: object, now: number): void {
  const known = knownConnection(connection)
  const at = performance.now()
  const freeAt = now - (at - known.freeAt)
  if (query.sent !== null && freeAt > query.sent) {
    query.waited += freeAt - query.sent
    query.sent = freeAt
  }
  known.freeAt = at
}

function knownConnection(connection: object): KnownConnection {
  const known = connections.get(connection) ?? { waited: 0, lent: 0, holder: null, location: null, freeAt: 0 }
  connections.set(connection, known)
  return known
}

/** A request that waits for a connection of a pool. */
export class ConnectionWait {
  readonly #recorder: Recorder
  readonly #began = performance.now()
  readonly #location: Location | null

  constructor(recorder: Recorder, location: Location | null) {
    this.#recorder = recorder
    this.#location = location
  }

  /** The request has got this connection. */
  end(connection: object): void {
    driverBoundary.guard(() => {
      const known = knownConnection(connection)
      known.waited = performance.now() - this.#began
      known.lent = this.#recorder.now()
      known.holder = this.#recorder
      known.location = this.#location
    }, undefined)
  }
}

/** Records that a request asks a pool for a connection. @returns null outside a profiled request */
export function beginWait(below: AnyFunction): ConnectionWait | null {
  const recorder = currentRecorder()
  if (recorder === undefined || recorder.finished) return null
  return driverBoundary.guard(() => {
    // The caller of a query that waits for this connection is known.
    const location = queriesOf(recorder).hasUnsent ? null : findCaller(below)
    return new ConnectionWait(recorder, location)
  }, null)
}
