import { performance } from 'node:perf_hooks'
import { callersAbove, findCaller, passOn } from '../../core/call-site.ts'
import { type AnyFunction, isObject, isRecord } from '../../core/foreign-value.ts'
import { driverBoundary } from '../../core/guard.ts'
import { type ConnectionWait, type Location, type PoolCounts, toMicroseconds } from '../../core/profile.ts'
import type { Recorder } from '../../core/watch/recorder.ts'
import { openRecorder, recorderScope } from '../../core/watch/current-recorder.ts'
import { secretsInQuery } from './bound-values.ts'
import { type AskedQuery, divideTime, queriesOf, type Sender, startOf, type UnusedWait } from './recorded-queries.ts'
import type { RecordedQuery } from './repetitions.ts'
import { readStatement } from './statement.ts'

/** What is known of a connection: who took it from its pool, and when it was last free. */
interface KnownConnection {
  /** The wait of its holder that no query has counted yet. */
  unused: UnusedWait | null
  holder: Recorder | null
  location: Location | null
  /** When it last began to run queries without a pause, and when the last one ended, by `performance.now()`. */
  busyFrom: number
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

/** The lines that began to build queries. */
const builders = new WeakMap<object, Location>()

/** Remembers the line that calls `below` to build a query, unless another one began it or no request is profiled. */
export function rememberBuilder(builder: unknown, below: AnyFunction): void {
  if (!isObject(builder) || builders.has(builder) || openRecorder() === null) return
  const location = callerHint ?? driverBoundary.guard(() => findCaller(below), null)
  if (location !== null) builders.set(builder, location)
}

/** The line that began to build a query; null if it is not known. */
export function lineOfBuilder(builder: unknown): Location | null {
  return (isObject(builder) && builders.get(builder)) || null
}

/** Who asks for a query, for a library that loses it until the query is sent; null outside a profiled request. */
export function senderInRequest(asked: AskedQuery, below: AnyFunction): Sender | null {
  const recorder = openRecorder()
  return recorder && driverBoundary.guard(() => senderOf(recorder, asked, below), null)
}

/**
 * The query that a builder or a pool has asked for, in all that it does until the query is answered: the driver that
 * sends the query finds it here, and records no second one.
 */
function askedAbove(): QueryCall | undefined {
  const scope = recorderScope.getStore()
  return scope instanceof QueryCall ? scope : undefined
}

/** A line that sends the same statement this often may be called in a loop by another one. */
const callersFrom = 2
const callersTo = 5

/** What each line sends. */
const sent = new WeakMap<Location, string>()

/** A line that sends statements for different tables passes them on for its callers. */
function learnCaller(location: Location, statement: string): void {
  const { name, transaction } = readStatement(statement)
  if (transaction !== null) return
  const known = sent.get(location)
  if (known === undefined) sent.set(location, name)
  else if (known !== name) passOn(location)
}

/** Lines in functions that only libraries call, such as handlers. */
const uncalled = new WeakSet<Location>()

function callersOf(location: Location, below: AnyFunction): readonly Location[] {
  const callers = uncalled.has(location) ? [] : callersAbove(location, below)
  if (callers.length === 0) uncalled.add(location)
  return callers
}

type SentQuery = AskedQuery & { connection: object }

/** The query that each error came from: the token of its request, and its start as stored. */
const failedBy = new WeakMap<object, { token: string; start: number }>()

/** The start of the query of a request that failed with this very error; undefined if none is known to. */
export function startOfFailed(error: unknown, token: string): number | undefined {
  const known = isObject(error) ? failedBy.get(error) : undefined
  return known?.token === token ? known.start : undefined
}

/** A query that a builder, a pool or a driver has begun. Ending it twice does nothing. */
export class QueryCall {
  readonly recorder: Recorder
  readonly query: RecordedQuery
  #connection: object | null = null
  /** True for whoever created the query, and alone records its end. False for a driver that only sends it. */
  readonly #isOpener: boolean
  #isOver = false

  constructor(recorder: Recorder, asked: AskedQuery, below: AnyFunction) {
    const { connection } = asked
    const above = unsentAbove(recorder, asked.statement)
    this.recorder = recorder
    this.query = above ?? open(recorder, asked, below)
    this.#isOpener = above === undefined
    if (above === undefined) this.#analyse()
    if (connection !== undefined) {
      this.send({ ...asked, connection }, above === undefined ? this.query.start : undefined)
    }
  }

  /** The query is sent. Some libraries know its statement and parameters only now. */
  send({ connection, parameters, statement, system }: SentQuery, sent = this.recorder.now()): void {
    const { query, recorder } = this
    this.#connection = connection
    query.system = system
    const isNamed = parameters.length > 0 && isRecord(parameters[0])
    // Names tell which placeholder has a value, as a builder's list does not.
    if (query.statement !== statement || (parameters.length > 0 && (query.parameters.length === 0 || isNamed))) {
      Object.assign(query, { statement, parameters: [...parameters] })
      this.#analyse()
    }
    query.sent = sent
    if (sent > query.start) query.wait ??= { start: query.start, duration: 0, pool: null }
    if (query.wait !== null) endWait(query.wait, sent)
    queriesOf(recorder).send(query, connection)
    addWait(recorder, query, connection)
  }

  /** Its connection is not there yet. */
  waits(): void {
    this.query.wait ??= { start: this.query.start, duration: Infinity, pool: null }
    this.query.span.waitsFor(this.query.wait)
  }

  /** The connection that it waited for is there, and others may send on it at the same time. */
  goesOn(): void {
    const { query } = this
    query.sent ??= this.recorder.now()
    if (query.wait !== null) endWait(query.wait, query.sent)
  }

  /** A query that cannot be analysed is still recorded. */
  #analyse(): void {
    driverBoundary.guard(() => queriesOf(this.recorder).repetitions.begin(this.query), undefined)
  }

  /** Makes the calls that have the query sent. */
  run<Result>(call: () => Result): Result {
    return this.#connection === null ? recorderScope.run(this, call) : call()
  }

  /**
   * @param rows the rows that it has returned or changed; null if it is unknown
   * @param bytes those of its answer; NaN if they are unknown
   */
  end(rows: number | null, result?: unknown, bytes = NaN): void {
    if (bytes > 0) this.query.bytes ??= bytes
    driverBoundary.guard(() => this.#end(rows, null, result), undefined)
  }

  fail(error: unknown): void {
    driverBoundary.guard(() => this.#end(null, { error }), undefined)
  }

  #end(rows: number | null, failure: RecordedQuery['failure'], result?: unknown): void {
    const { query } = this
    const recorder = this.#isOver ? null : this.recorder.open
    if (recorder === null) return
    this.#isOver = true
    query.rows ??= rows
    query.failure ??= failure
    if (query.duration === null) {
      const now = recorder.now()
      if (this.#connection !== null) waitForPredecessor(query, this.#connection, now)
      const { sent, wait } = query
      if (sent === null && wait !== null && (wait.inVain || wait.duration === Infinity)) {
        // A query that never got its connection has only waited. One with an answer had one that nobody told of.
        if (failure === null) query.wait = null
        else Object.assign(wait, { duration: now - wait.start, inVain: true })
      }
      divideTime(query, now, recorder.clock.blockedWithin(query.wait?.start ?? query.start, now))
    }
    const error = failure?.error
    if (isObject(error) && startOfFailed(error, recorder.token) === undefined) {
      failedBy.set(error, { token: recorder.token, start: toMicroseconds((query.shownStart ??= startOf(query))) })
    }
    if (!this.#isOpener) return
    if (recorder !== this.recorder) {
      queriesOf(recorder).begin(query)
      recorder.record({ kind: 'query', name: query.system }, 0)
    }
    // Whoever awaits a query is on the stack again when it ends, even if its sender was not.
    query.location ??= findCaller(findCaller)
    queriesOf(recorder).end(query, result)
    // Learnt at once, since only the first queries are kept.
    for (const secret of secretsInQuery(query.statement, query.parameters)) recorder.conceal(secret)
    const { location, statement } = query
    const description = { location, name: readStatement(statement).name, detail: statement }
    // What was recorded since is no time of the query.
    query.span.end(query.failure === null ? 'continued' : 'threw', description, query.ended)
  }
}

/**
 * Records that a query begins. A query builder, a pool and a driver may all tell of the same one, which is recorded
 * once, with the caller of the first.
 * @param below the driver's function that the caller has called
 * @returns null outside a profiled request
 */
export function beginQuery(asked: AskedQuery, below: AnyFunction): QueryCall | null {
  const recorder = openRecorder()
  return recorder && driverBoundary.guard(() => new QueryCall(recorder, asked, below), null)
}

/** The query that this statement is sent for; undefined for a statement that only prepares a connection for one. */
function unsentAbove(recorder: Recorder, statement: string): RecordedQuery | undefined {
  const above = askedAbove()
  if (above === undefined || above.recorder.token !== recorder.token) return undefined
  const { query } = above
  // A command of MongoDB may add the collection.
  const isSame = query.statement === statement || statement.startsWith(`${query.statement} `)
  return isSame && query.sent === null && query.duration === null ? query : undefined
}

function senderOf(recorder: Recorder, asked: AskedQuery, below: AnyFunction): Sender {
  const { connection, statement } = asked
  const holder = connection && connections.get(connection)
  const found = asked.location ?? callerHint
  const location = found ?? findCaller(below) ?? holder?.location ?? null
  if (found == null && location !== null) learnCaller(location, statement)
  const times = queriesOf(recorder).repetitions.ask(asked)
  const isRepeated = callersFrom <= times && times <= callersTo && location !== null
  return { location, ...(isRepeated && { callers: callersOf(location, below) }) }
}

function open(recorder: Recorder, asked: AskedQuery, below: AnyFunction): RecordedQuery {
  const { parameters, statement, system, sender = senderOf(recorder, asked, below) } = asked
  const { callers, location } = sender
  const query: RecordedQuery = {
    system,
    statement,
    // The application may use its list again.
    parameters: [...parameters],
    location,
    start: recorder.now(),
    sent: null,
    duration: null,
    waited: 0,
    blocked: 0,
    wait: null,
    rows: null,
    bytes: null,
    failure: null,
    transaction: null,
    values: [],
    suppliedBy: null,
    span: recorder.span({ kind: 'query', name: readStatement(statement).name, detail: statement, location }),
  }
  if (callers !== undefined) query.callers = callers
  queriesOf(recorder).begin(query)
  return query
}

/** Adds the wait of the request for a connection of its own, to the first query on it. */
function addWait(recorder: Recorder, query: RecordedQuery, connection: object): void {
  const known = connections.get(connection)
  if (known === undefined || known.holder !== recorder || known.unused === null) return
  queriesOf(recorder).waits.delete(known.unused)
  query.wait = known.unused.wait
  known.unused = null
}

/** A connection sends one query at a time, so this one waited until the one before it had ended. */
function waitForPredecessor(query: RecordedQuery, connection: object, now: number): void {
  const known = knownConnection(connection)
  const at = performance.now()
  const freeAt = now - (at - known.freeAt)
  const { sent } = query
  const isBehind = sent !== null && freeAt > sent
  if (isBehind) {
    query.wait ??= { start: sent, duration: 0, pool: null }
    query.wait.duration = freeAt - query.wait.start
    query.sent = freeAt
  }
  const { duration = 0, start = 0 } = query.wait ?? {}
  const seen = Math.min(freeAt, start + duration) - Math.max(now - (at - known.busyFrom), start)
  // Earlier ones were seen to run for most of the wait.
  if (query.wait !== null && seen > duration / 2) query.wait.pool ??= 'queue'
  if (!isBehind) known.busyFrom = at - now + (sent ?? now)
  known.freeAt = at
}

function knownConnection(connection: object): KnownConnection {
  const known = connections.get(connection) ?? { unused: null, holder: null, location: null, busyFrom: 0, freeAt: 0 }
  connections.set(connection, known)
  return known
}

/**
 * Records that a request asks a pool for a connection.
 * @param pool what the pool counts before it is asked
 * @returns what to call with the connection, or with null if there was none; null outside a profiled request
 */
export function beginWait(below: AnyFunction, pool: PoolCounts | null): ((connection: object | null) => void) | null {
  const recorder = openRecorder()
  if (recorder === null) return null
  return driverBoundary.guard(() => {
    const above = askedAbove()
    const query = above?.recorder === recorder && above.query.sent === null ? above.query : null
    if (query !== null) {
      query.wait = { start: query.start, duration: Infinity, pool }
      query.span.waitsFor(query.wait)
    }
    const unused = query === null && above === undefined ? beginUnusedWait(recorder, below, pool) : null
    return (connection: object | null) => {
      driverBoundary.guard(() => {
        if (unused !== null) endUnusedWait(recorder, unused, connection === null)
        const location = unused?.location ?? null
        if (connection !== null && query?.sent === null && query.wait !== null) endWait(query.wait, recorder.now())
        if (connection !== null) Object.assign(knownConnection(connection), { unused, holder: recorder, location })
      }, undefined)
    }
  }, null)
}

/** A connection has come, if only after the profile was made. */
function endWait(wait: ConnectionWait, now: number): void {
  wait.duration = now - wait.start
  delete wait.inVain
}

const unusedWaitsKept = 100

function beginUnusedWait(recorder: Recorder, below: AnyFunction, pool: PoolCounts | null): UnusedWait {
  const wait = { start: recorder.now(), duration: Infinity, pool }
  const unused = { wait, location: findCaller(below), parent: recorder.calls.newest, failed: false }
  const { waits } = queriesOf(recorder)
  if (waits.size < unusedWaitsKept) waits.add(unused)
  return unused
}

function endUnusedWait(recorder: Recorder, unused: UnusedWait, failed: boolean): void {
  if (recorder.finished) return
  unused.wait.duration = recorder.now() - unused.wait.start
  unused.failed = failed
}

/** Binds a callback to the current scope. Many libraries call back in that of whoever opened the connection. */
export function inThisScope(callback: AnyFunction): AnyFunction {
  const scope = recorderScope.getStore()
  return function (this: unknown, ...args: unknown[]): unknown {
    const call = (): unknown => Reflect.apply(callback, this, args)
    return scope === undefined || recorderScope.getStore() === scope ? call() : recorderScope.run(scope, call)
  }
}
