// The record of one request: plain data, bounded and masked before it is stored, so that every reader (page, JSON,
// Markdown, another process) sees the same. Times are milliseconds, and every `start` counts from the start of the
// request. Views format the values.

/** The version of the stored format, raised with every change to it. */
export const profileVersion = 11

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

export interface Profile {
  version: typeof profileVersion
  token: string
  /** The token of the request whose handler made this one with `inject`, or which this one repeats; null for others. */
  parent: string | null
  /** Whether the profiler has sent it, to repeat its parent. Missing if not. */
  isReplay?: true
  /** Milliseconds since 1970. */
  time: number
  duration: number
  /** The response's status; null if the client left before anything was sent. */
  status: number | null
  outcome: Outcome
  method: string
  /** Path and query as received, with secrets masked. */
  url: string
  /** The path as received: not decoded, not normalised. */
  path: string
  host: string | null
  ip: string | null
  protocol: 'http' | 'https'
  httpVersion: string
  requestId: string | null
  request: RequestRecord
  response: ResponseRecord
  exceptions: Exception[]
  logs: LogLine[]
  spans: Span[]
  lifecycle: DispatchPoint[]
  routing: Routing
  /** Null if there was no query. */
  database: DatabaseUse | null
  /** The HTTP requests that the application has made; null if there were none. */
  http: HttpUse | null
  eventLoop: EventLoopUse
  memory: MemoryUse
  process: { id: number; startedAt: number }
  /** The key of this request's Configuration, which many profiles share. */
  configuration: string
  /** What the bounds left out, each with its bound as a sentence; empty if nothing was. */
  dropped: Array<{ what: string; count: number; why: string }>
  /** Sentences about what the profiler could not record. */
  notes: string[]
  /** What the profiler cannot see of this application. Missing if it sees all. Each has a note, too. */
  unseen?: Unseen[]
  /** Microseconds that the profiler took: while the request ran, after it, and to store the profile before this one. */
  cost: { trace: number; collect: number; store: number }
  /** Values that panels make searchable by name: { license: "Louvre" }. */
  labels: Record<string, string>
  /** The data of the application's panels, by panel name. */
  panels: Record<string, Json>
  /** When an error of it ended the process, in milliseconds since 1970. Missing if none did. */
  crash?: number
}

/**
 * aborted: the client left. broken: the server stopped in the middle of its response. hijacked: the application
 * bypassed Fastify. upgraded: the connection switched to another protocol, and has closed. unfinished: the application
 * closed first.
 */
export type Outcome = 'completed' | 'aborted' | 'broken' | 'hijacked' | 'upgraded' | 'unfinished'

/** What no profile of an application shows, so that its absence proves nothing. */
export interface Unseen {
  what: 'logs' | 'queries' | 'calls'
  /** The library; missing for logs. */
  name?: string
  says: string
}

/** One header line. Headers are lists of these, because a name may occur twice. */
export type HeaderLine = [name: string, value: string]

export interface RequestRecord {
  headers: HeaderLine[]
  query: Record<string, Json>
  params: Record<string, Json>
  cookies: Record<string, string>
  /** The parsed body, masked and shortened; null if there is none or it was not parsed. */
  body: Json
  contentType: string | null
  /** Bytes received, whatever Content-Length declared; null if there was no body. */
  bodySize: number | null
}

export interface ResponseRecord {
  headers: HeaderLine[]
  contentType: string | null
  /** Bytes of body sent; null if unknown. */
  bodySize: number | null
  streamed: boolean
}

/** A line of code. `file` is an absolute path (or `node:…`), line and column count from 1. */
export interface Location {
  file: string
  line: number
  column: number
}

export interface Frame extends Location {
  function: string | null
  /** own: the application's code. module: below node_modules. node: Node itself. */
  kind: 'own' | 'module' | 'node'
}

/**
 * One error of a chain. The list is flat: the thrown error, then its members and causes, depth first. `parent` is the
 * index of the error that has this one as a cause or member.
 */
export interface Exception {
  class: string
  message: string
  code: string | null
  statusCode: number | null
  /** logged: known by a line of the log alone. */
  relation: 'thrown' | 'cause' | 'member' | 'logged'
  parent: number | null
  /** Own properties other than name, message, stack, cause, errors, code, statusCode; masked. */
  properties: Record<string, Json>
  frames: Frame[]
  /** Ids of the spans that threw it. */
  spans?: number[]
  /** Ids of the error handlers that were called with it. */
  handlers?: number[]
  /** When it came, if nobody caught it. */
  uncaught?: 'before the response' | 'after the response'
}

/** Levels are pino's: 10 trace, 20 debug, 30 info, 40 warn, 50 error, 60 fatal. */
export interface LogLine {
  level: number
  start: number
  message: string
  fields: Record<string, Json>
  /** The line that logged a warning or an error, if code of the application did. */
  location?: Location
  /** Whether it is a warning or an error after the response. Missing if not. */
  isLate?: true
}

export type SpanKind =
  | 'plugin'
  | 'hook'
  | 'handler'
  | 'not-found-handler'
  | 'error-handler'
  | 'validation'
  | 'query'
  | 'http'
  | 'cache'
  | 'wait'
  | 'other'

/** continued: the next function ran. replied: it sent the response. threw: it failed. unfinished: it never ended. */
export type SpanOutcome = 'continued' | 'replied' | 'threw' | 'unfinished'

/** A timed operation. Its id is its index in `profile.spans`. */
export interface Span {
  /** The hook or handler that a panel's span was recorded in; null for hooks and handlers themselves. */
  parent: number | null
  kind: SpanKind
  /** The function's own name, or what a panel calls it: "hit licenses" and "miss licenses" are reads of a cache. */
  name: string
  /** The name of the Fastify hook ("onRequest"); null if it is not a hook. */
  hook: string | null
  /** True for a hook in a route's options, false for one added with `addHook`. */
  routeLevel: boolean
  dispatchPoint: DispatchPointName | null
  /** The plugin that registered it. */
  plugin: string | null
  /** Where the function was registered, or where the query was made. */
  location: Location | null
  start: number
  duration: number
  outcome: SpanOutcome
  /** The SQL of a query, the key of a cache read. */
  detail: string | null
  /** What a query waited for before it was sent. It may have ended before the span began. */
  wait?: ConnectionWait
  /**
   * The milliseconds of it that the response may have waited for, if it ended later: until the head of an answer, or
   * none. Missing if it ended before.
   */
  charged?: number
  /** Operations past the bound share a span: how many, and the milliseconds in which one ran, or only waited. */
  shared?: { count: number; time: number; waited: number }
}

export interface ConnectionWait {
  start: number
  duration: number
  /** What the pool counted when it was asked, or that earlier queries were seen to run; null if neither is known. */
  pool: PoolCounts | 'queue' | null
  /** Whether no connection came. Missing if one did. */
  inVain?: true
}

/** The connections of a pool. */
export interface PoolCounts {
  /** Those that are open, or being opened. */
  open: number
  /** Those of them that nobody uses. */
  free: number
  most: number
  /** How many others waited for one. */
  waiting: number
  /** After how many milliseconds an unused one is closed, and the name of that option; null if it is kept. */
  closing: { option: string; after: number } | null
}

export const dispatchPointNames = [
  'kernel.request',
  'kernel.controller',
  'kernel.controller_arguments',
  'kernel.response',
  'kernel.finish_request',
] as const

export type DispatchPointName = (typeof dispatchPointNames)[number]

/** Profiles have all five, in order. One that was not reached has `start: null` and no listeners. */
export interface DispatchPoint {
  name: DispatchPointName
  /** The Fastify hooks that belong to it. */
  hooks: string[]
  start: number | null
  duration: number | null
  /** Span ids, in the order they ran. */
  listeners: number[]
  /** By which span, null if Fastify itself failed, and with which exception, null if by a response. */
  interrupted: { span: number | null; exception: number | null } | null
}

export interface Routing {
  matched: (Route & { params: Record<string, Json> }) | null
  /** The route for all paths that took the request, and called `reply.callNotFound()`. Missing if none did. */
  gaveUp?: Route
  /** Similar routes at the time of the request, nearest first; empty if a route matched. */
  nearMisses: NearMiss[]
  /** The number of routes at the time of the request. */
  routes: number
}

export interface Route {
  method: string[]
  url: string
  host: string | null
  /** The route's version constraint. */
  version?: string
  handler: string
  plugin: string | null
  location: Location | null
  /** Functions that were registered again for the same of Fastify's hooks, and where. Missing if there are none. */
  hooksTwice?: ReadonlyArray<{ hook: string; name: string; location: Location | null }>
}

export interface NearMiss extends Route {
  /** The same path but for this. parameter: one does not match the route's pattern. */
  reason: 'method' | 'slash' | 'host' | 'version' | 'constraint' | 'parameter' | 'case' | 'similar'
  /** The case-insensitive edit distance between the requested path and the route's; 1 for `slash`. */
  distance: number
}

/** The queries of one request: the first in full, and totals of all. Times are milliseconds. */
export interface DatabaseUse {
  count: number
  failed: number
  rows: number
  /** The time in which at least one query ran. */
  duration: number
  /** The longest wait of a single query: waits overlap, so a sum would mislead. */
  waited: number
  transactions: number
  /** The number of different statements. */
  shapes: number
  /** The statements that took most time, with all their queries. Missing if all queries are listed. */
  statements?: StatementTotals[]
  repetitions: Repetition[]
  queries: Query[]
}

/** How often a request ran one statement, and how long that took in milliseconds, with the slowest query. */
export interface StatementTotals {
  sql: string
  count: number
  duration: number
  slowest: number
}

/** What a query and an HTTP request have in common. */
interface Call {
  start: number
  /** Its own time, without the next; null if it had not ended when the profile was made. */
  duration: number | null
  /** The time in which the event loop was blocked meanwhile. */
  blocked: number
  error: string | null
  /** The caller; null if no line of the application is known to have sent it. */
  location: Location | null
  /** Whether it ended, or had not ended, after the response. Missing if not. */
  isLate?: true
}

/** One query, masked. Its duration leaves out its wait, too. */
export interface Query extends Call {
  /** "postgresql", "mysql", "mssql", "sqlite", "mongodb", "redis". */
  system: string
  sql: string
  parameters: Json[]
  /** The wait for a connection. */
  waited: number
  /** Of Redis, what a command that reads has found. Null if the query failed or its rows are unknown. */
  rows: number | null
  /** Bytes that its connection received for it. Missing if unknown, as for queries that are sent together. */
  bytes?: number
  /** The number of its transaction in the request, from 1; null outside transactions. */
  transaction: number | null
  /** Whether it got no connection, and was never sent. Missing if not. */
  unsent?: true
}

/** A query that ran more often than necessary. Its duration is the time in which at least one of them ran. */
export interface Repetition extends Omit<StatementTotals, 'slowest'> {
  /**
   * loop: one line read with it again and again, for another value each time (N+1). writes: the same, for rows that it
   * changed. duplicate: a read with the same parameters.
   */
  kind: 'loop' | 'writes' | 'duplicate'
  /** The line of a loop with those that called its function; the first few lines of duplicates. */
  locations: Location[]
  /** What to write instead, as a sentence. Missing for duplicates. */
  remedy?: string
}

/** The HTTP requests that the application has made: the first in full, and totals of all. Times are milliseconds. */
export interface HttpUse {
  count: number
  /** Those without a response, and those whose status is 400 or more, but for 404. */
  failed: number
  /** The time in which at least one of them was under way. */
  duration: number
  calls: HttpCall[]
}

/** Its duration ends with the response's body. */
export interface HttpCall extends Call {
  method: string
  url: string
  /** Null if there was no response. */
  status: number | null
  /** Bytes of the response's body, as received; null if unknown. */
  size: number | null
  /** Until the head of the response, without time in which the event loop was blocked; null if there was none. */
  head: number | null
  /** The token of the profile of the called application; null if it sent none. */
  token: string | null
}

export interface EventLoopUse {
  /** The fraction of the request's time in which the event loop was busy, 0 to 1. */
  utilization: number
  active: number
  idle: number
  /** The longest times in which code ran without a pause, in order. */
  blocked: BlockedTime[]
}

/** A time in which the event loop was blocked, so that no answer could be read. */
export interface BlockedTime {
  start: number
  duration: number
  /** The token of the request whose code ran; null if that is unknown. */
  by: string | null
}

/** Bytes of the whole process, including other requests. */
export interface MemoryUse {
  heapUsedAtStart: number
  heapUsedAtEnd: number
  heapTotal: number
  heapLimit: number
}

/** Rounds milliseconds to microseconds. More digits mean nothing, and are slow to write and parse. */
export function toMicroseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}
