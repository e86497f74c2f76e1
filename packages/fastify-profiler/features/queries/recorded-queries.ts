import { maskSpans } from '../../core/collect.ts'
import type { CollectingRecorded } from '../../core/feature.ts'
import { isObject, textOf } from '../../core/foreign-value.ts'
import { driverBoundary } from '../../core/guard.ts'
import { masked } from '../../core/mask/known-secrets.ts'
import type { Mask } from '../../core/mask/mask.ts'
import type { RequestSecrets } from '../../core/mask/request-secrets.ts'
import {
  type BlockedTime,
  type ConnectionWait,
  type DatabaseUse,
  type Json,
  type Location,
  type Profile,
  type Query,
  type Repetition,
  type Span,
  type StatementTotals,
  toMicroseconds,
} from '../../core/profile.ts'
import type { ListedStatement, ProfileSummary } from '../../core/summary.ts'
import { isAfterResponse, leaveOutLate, lengthOf, type RequestTime, timeOf, unblocked } from '../../core/intervals.ts'
import { Attachment } from '../../core/watch/attachment.ts'
import type { Recorder } from '../../core/watch/recorder.ts'
import { keptParameters, type Room } from '../request/known-values.ts'
import { maskQuery } from './bound-values.ts'
import { mostShapes, type RecordedQuery, Repetitions } from './repetitions.ts'
import { readStatement } from './statement.ts'
import { shortenShape, statementShape } from '../../core/statement-shape.ts'

/** Shorter waits, in milliseconds, are not worth telling apart from their queries. */
const shortestWait = 0.05

/** Divides the time of a query that ends into its own, its wait, and the time in which the event loop was blocked. */
export function divideTime(query: RecordedQuery, now: number, blocked: readonly BlockedTime[]): void {
  const { sent, start } = query
  query.ended = now
  const wait = query.wait && { start: query.wait.start, end: query.wait.start + query.wait.duration }
  const whole = { start: Math.min(start, wait?.start ?? start), end: now }
  const waited = wait === null ? 0 : lengthOf(unblocked(wait, blocked, whole))
  const isWorthTelling = wait !== null && waited >= shortestWait
  const run = { start: isWorthTelling ? Math.max(start, sent ?? start, wait.end) : start, end: now }
  query.duration = lengthOf(unblocked(run, blocked, whole))
  query.waited = isWorthTelling ? waited : 0
  const periods = isWorthTelling ? [wait, run] : [run]
  query.blocked = blocked.length === 0 ? 0 : lengthOf(periods) - query.duration - query.waited
  if (!isWorthTelling) query.wait = null
  query.span.waitsFor(query.wait)
}

/** Queries listed in full. */
const queriesKept = 100

const statementsKept = 20

const recorded = new Attachment<RecordedQueries>()

/** The queries that a recorder records from now on. */
export function queriesOf({ records }: Recorder): RecordedQueries {
  const known = recorded.get(records)
  if (known !== undefined) return known
  const queries = new RecordedQueries()
  recorded.set(records, queries)
  return queries
}

/** A wait for a connection, without a query that needed it. */
export interface UnusedWait {
  wait: ConnectionWait
  location: Location | null
  parent: number | null
  failed: boolean
}

/** Waits for connections without a query, as spans of their own. */
function unusedWaits(recorder: Recorder): Span[] {
  const { waits: all = [] } = recorded.get(recorder.records) ?? {}
  const waits = [...all].filter(({ wait }) => wait.duration >= shortestWait)
  const { ended } = recorder
  // An unfinished one ends with its request, like a function, unless it began later.
  const durationOf = ({ duration, start }: ConnectionWait) =>
    duration < Infinity ? duration : (ended !== null && start < ended ? ended : recorder.now()) - start
  return waits.map(({ wait, location, parent, failed }): Span => ({
    parent,
    kind: 'wait',
    name: 'connect',
    hook: null,
    routeLevel: false,
    dispatchPoint: null,
    plugin: null,
    location,
    start: wait.start,
    duration: durationOf(wait),
    outcome: failed ? 'threw' : wait.duration === Infinity ? 'unfinished' : 'continued',
    detail: null,
    wait: {
      ...wait,
      duration: durationOf(wait),
      ...((failed || wait.duration === Infinity) && { inVain: true }),
    },
  }))
}

/** The queries of one request: the first in full, and totals of all. */
class RecordedQueries {
  readonly first: RecordedQuery[] = []
  readonly repetitions = new Repetitions()
  /** All queries by statement without its values. */
  readonly statements = new Map<string, StatementTotals>()
  count = 0
  failed = 0
  rows = 0
  /** The longest wait of a single query. */
  waited = 0
  transactions = 0
  /** The waits for connections that no query was sent on yet. */
  readonly waits = new Set<UnusedWait>()
  /** The transaction that is open on each connection. */
  readonly #open = new WeakMap<object, number>()

  begin(query: RecordedQuery): void {
    this.count++
    if (this.first.length < queriesKept) this.first.push(query)
  }

  /** The query has its connection. */
  send(query: RecordedQuery, connection: object): void {
    const { transaction } = readStatement(query.statement)
    if (transaction === 'begin' && !this.#open.has(connection)) this.#open.set(connection, ++this.transactions)
    query.transaction = this.#open.get(connection) ?? null
    if (transaction === 'end') this.#open.delete(connection)
  }

  /** The application has its answer. @param result what the library returned; undefined if that is unknown */
  end(query: RecordedQuery, result: unknown): void {
    const { duration, failure, rows, waited } = query
    const sql = statementShape(query.statement)
    if (failure !== null) this.failed++
    this.rows += rows ?? 0
    this.waited = Math.max(this.waited, waited)
    const totals = this.statements.get(sql) ?? { sql, count: 0, duration: 0, slowest: 0 }
    totals.count++
    totals.duration += duration ?? 0
    totals.slowest = Math.max(totals.slowest, duration ?? 0)
    if (totals.count > 1 || this.statements.size < mostShapes) this.statements.set(sql, totals)
    driverBoundary.guard(() => this.repetitions.end(query, result), undefined)
  }
}

/** What a driver knows of a query when it begins. */
export interface AskedQuery {
  system: string
  statement: string
  parameters: readonly unknown[]
  /**
   * The connection that it is sent on, one query after the other. Missing if queries share it, and for a query builder
   * or a pool, whose driver sends the query later.
   */
  connection?: object | undefined
  /** The caller, if the library has lost it from the stack. Default: looked for on the stack. */
  location?: Location | null | undefined
  /** Who asked for it, if that is known from before. */
  sender?: Sender | undefined
}

/** The line that asks for a query. */
export type Sender = Pick<RecordedQuery, 'location' | 'callers'>

/** Limits of all parameters of a request. */
const parametersKept: Room = { values: 500, characters: 200_000 }

/** Learns from the parameters that are documents: their fields have names, as those of a body do. */
export function learnFromQueries(recorder: Recorder, secrets: RequestSecrets): void {
  for (const { parameters } of recorded.get(recorder.records)?.first ?? []) {
    if (parameters.some(isObject)) secrets.learnFrom(parameters)
  }
}

export function collectQueries({ exchange: { recorder }, mask, time }: CollectingRecorded) {
  const waits = unusedWaits(recorder)
  leaveOutLate(waits, recorder.spans, time)
  maskSpans(waits, mask)
  // Not added to the recorder's own list: of a response that shows its profile, this is called twice.
  const spans = waits.length === 0 ? recorder.spans : [...recorder.spans, ...waits]
  hideValues(spans)
  return { spans, database: describeQueries(recorded.get(recorder.records), spans, time, mask) }
}

/** Hides values in the statements of spans, since one may be a secret that only its column tells. */
export function hideValues(spans: readonly Span[]): void {
  for (const span of spans) {
    if (span.kind === 'query' && span.detail !== null) span.detail = maskQuery(span.detail, []).sql
  }
}

function describeQueries(
  queries: RecordedQueries | undefined,
  spans: readonly Span[],
  time: RequestTime,
  mask: Mask,
): DatabaseUse | null {
  if (queries === undefined || queries.count === 0) return null
  const { count, failed, rows, waited, transactions, repetitions, first, statements } = queries
  const room = { ...parametersKept }
  const unended = first.filter(({ duration }) => duration === null)
  return {
    count,
    failed,
    rows,
    duration: toMicroseconds(timeOf('query', spans, time)),
    waited: toMicroseconds(unended.reduce((longest, query) => Math.max(longest, waitOf(query)), waited)),
    transactions,
    shapes: new Set([...statements.keys(), ...unended.map(({ statement }) => statementShape(statement))]).size,
    ...(count > first.length && { statements: describeStatements([...statements.values()], mask) }),
    repetitions: repetitions.found(spans, time).map(repetition => maskRepetition(repetition, mask)),
    queries: first.map(query => describeQuery(query, room, time, mask)),
  }
}

function describeStatements(statements: readonly StatementTotals[], mask: Mask): StatementTotals[] {
  return statements
    .toSorted((one, other) => other.duration - one.duration)
    .slice(0, statementsKept)
    .map(({ sql, count, duration, slowest }) => ({
      sql: mask.text(maskQuery(sql, []).sql),
      count,
      duration: toMicroseconds(duration),
      slowest: toMicroseconds(slowest),
    }))
}

function describeQuery(query: RecordedQuery, room: Room, time: RequestTime, mask: Mask): Query {
  const { system, statement, duration, blocked, rows, bytes, failure, location, transaction } = query
  const waited = waitOf(query)
  const start = (query.shownStart ??= startOf(query))
  const { sql, parameters, secrets } = maskQuery(statement, query.parameters)
  const described: Query = {
    system,
    sql: mask.text(sql),
    parameters: keptParameters(parameters, room).map((parameter): Json => mask.value(parameter)),
    start: toMicroseconds(start),
    duration: duration === null ? null : toMicroseconds(duration),
    waited: toMicroseconds(waited),
    blocked: toMicroseconds(blocked),
    rows: failure === null ? rows : null,
    error: failure === null ? null : mask.text(withoutSecrets(failure.error, secrets)),
    location,
    transaction,
  }
  if (bytes !== null) described.bytes = bytes
  if (query.wait?.inVain) described.unsent = true
  if (isAfterResponse(time, start + waited + blocked + (duration ?? Infinity))) described.isLate = true
  return described
}

/** How long a query waited for a connection, also if it has not ended. */
function waitOf({ duration, wait, waited }: RecordedQuery): number {
  return duration === null && wait !== null && wait.duration < Infinity ? wait.duration : waited
}

/** When a query began, with a wait for its connection before. */
export function startOf({ blocked, duration, ended, start, wait, waited }: RecordedQuery): number {
  if (ended !== undefined) return ended - waited - blocked - (duration ?? 0)
  if (wait === null || wait.duration < shortestWait) return start
  return start - Math.max(0, Math.min(wait.duration, start - wait.start))
}

function maskRepetition(repetition: Repetition, mask: Mask): Repetition {
  const { remedy, sql } = repetition
  const masked = { sql: mask.text(maskQuery(sql, []).sql), ...(remedy !== undefined && { remedy: mask.text(remedy) }) }
  return { ...repetition, ...masked }
}

function withoutSecrets(error: unknown, secrets: readonly string[]): string {
  return secrets.reduce((text, secret) => (secret === '' ? text : text.replaceAll(secret, masked)), textOf(error))
}

const statementsListed = 5

export function statementTotals(database: Pick<DatabaseUse, 'queries' | 'statements'> | null): ListedStatement[] {
  const bySql = new Map<string, StatementTotals>()
  const listed = database?.queries.map(({ duration: time, sql }) => {
    const duration = time ?? 0
    return { sql: statementShape(sql), count: 1, duration, slowest: duration }
  })
  for (const { count, duration, slowest, sql } of database?.statements ?? listed ?? []) {
    const totals = bySql.get(sql) ?? { sql, count: 0, duration: 0, slowest }
    totals.count += count
    totals.slowest = Math.max(totals.slowest, slowest)
    totals.duration = toMicroseconds(totals.duration + duration)
    bySql.set(sql, totals)
  }
  return [...bySql.values()]
    .sort((one, other) => other.duration - one.duration)
    .slice(0, statementsListed)
    .map(totals => {
      const sql = shortenShape(totals.sql)
      return sql === totals.sql ? totals : { ...totals, sql, length: totals.sql.length }
    })
}

/** How often the most repeated statement ran in a loop, and whether it changed rows; 0 without a loop. */
export function repetitionsOf({ database }: Pick<Profile, 'database'>) {
  const loops = (database?.repetitions ?? []).filter(({ kind }) => kind !== 'duplicate')
  const [worst] = loops.sort((one, other) => other.count - one.count)
  return { repeated: worst?.count ?? 0, ...(worst?.kind === 'writes' && { repeatedWrites: true as const }) }
}

export function summariseQueries(profile: Profile): Partial<ProfileSummary> {
  const { database } = profile
  if (database === null) return {}
  const { count, duration } = database
  return { queries: { count, duration }, statements: statementTotals(database), ...repetitionsOf(profile) }
}
