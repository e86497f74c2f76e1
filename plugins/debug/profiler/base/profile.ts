/**
 * The record of one request: plain data, bounded and redacted before it is stored, so that every reader
 * (page, JSON, Markdown, another process) sees the same thing. Times are milliseconds; every `start` counts
 * from the start of the request. Nothing here is formatted: views do that.
 */

/** Of what is stored; raised with every change of it. */
export const profileVersion = 3

/** What survives a round trip through JSON. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

export interface Profile {
  /** Raised when an older record can no longer be read as this type. */
  version: typeof profileVersion
  token: string
  /** The token of the request that caused this one (an `inject` inside a handler), if any. */
  parent: string | null
  /** Milliseconds since 1970. */
  time: number
  duration: number
  /** What the client was answered; null when nothing was sent before it left. */
  status: number | null
  outcome: Outcome
  method: string
  /** As received, secrets masked: path and query. */
  url: string
  /** As received, without the query: percent-encoding, repeated slashes and dots untouched. */
  path: string
  host: string | null
  ip: string | null
  protocol: 'http' | 'https'
  /** HTTP version: "1.1". */
  httpVersion: string
  requestId: string | null
  request: RequestRecord
  response: ResponseRecord
  exceptions: Exception[]
  logs: LogLine[]
  spans: Span[]
  lifecycle: DispatchPoint[]
  routing: Routing
  eventLoop: EventLoopUse
  memory: MemoryUse
  process: { id: number; startedAt: number }
  /** Key of the Configuration this request ran under; it is stored once, not per request. */
  configuration: string
  /** What a bound left out, by what was dropped. Empty: everything is here. */
  dropped: Dropped[]
  /** Sentences about what the profiler could not see ("the application does not use the profiler's logger"). */
  notes: string[]
  /** What the profiler itself took. */
  cost: Cost
  /** Values a search finds by name, given by panels: { license: "Louvre" }. */
  labels: Record<string, string>
  /** What extra panels collected, by panel name. */
  panels: Record<string, Json>
}

/**
 * aborted: the client left. broken: the server broke its answer off. hijacked: the application answered past Fastify.
 * upgraded: the connection went on in another protocol, and has ended. unfinished: the process closed first.
 */
export type Outcome = 'completed' | 'aborted' | 'broken' | 'hijacked' | 'upgraded' | 'unfinished'

/** A pair for each header line, in the order received: a name may occur twice. */
export type HeaderLine = [name: string, value: string]

export interface RequestRecord {
  headers: HeaderLine[]
  query: Record<string, Json>
  params: Record<string, Json>
  cookies: Record<string, string>
  /** The parsed body, masked and shortened; null when there is none or it is not parsed. */
  body: Json
  contentType: string | null
  /** Bytes that came in, however many were declared; null when there was no body. */
  bodySize: number | null
}

export interface ResponseRecord {
  headers: HeaderLine[]
  contentType: string | null
  /** Bytes of body sent; null when unknown. */
  bodySize: number | null
  streamed: boolean
}

/** A line of code. `file` is an absolute path (or `node:…`), line and column count from 1. */
export interface Location {
  file: string
  line: number
  column: number
}

/** own: the application's code. module: below node_modules. node: Node itself. */
export type FrameKind = 'own' | 'module' | 'node'

export interface Frame extends Location {
  function: string | null
  kind: FrameKind
  /** Only in what views are given: read from disk when viewed, never stored. */
  excerpt?: Excerpt
}

export interface Excerpt {
  /** Number of the first line in `lines`. */
  first: number
  lines: string[]
  /** The line the frame points to. */
  line: number
}

/**
 * One error of a chain. The list is flat, in reading order: the thrown error first, then its causes and
 * members, depth first; `parent` is the index of the error this one is a cause or a member of.
 */
export interface Exception {
  class: string
  message: string
  code: string | null
  statusCode: number | null
  relation: 'thrown' | 'cause' | 'member'
  parent: number | null
  /** Own properties other than name, message, stack, cause, errors, code, statusCode; masked. */
  properties: Record<string, Json>
  frames: Frame[]
  /** Ids of the spans that threw it. */
  spans?: number[]
  /** Ids of the error handlers that it was given to. */
  handlers?: number[]
}

/** Levels as pino counts them: 10 trace, 20 debug, 30 info, 40 warn, 50 error, 60 fatal. */
export interface LogLine {
  level: number
  start: number
  message: string
  fields: Record<string, Json>
}

export type SpanKind =
  'hook' | 'handler' | 'not-found-handler' | 'error-handler' | 'validation' | 'query' | 'cache' | 'other'

/** continued: went on. replied: answered, so that nothing after it ran. threw: failed. unfinished: never came back. */
export type SpanOutcome = 'continued' | 'replied' | 'threw' | 'unfinished'

/** Something that took time. Its id is its index in `profile.spans`. */
export interface Span {
  /** The hook or handler a panel's span was asked for in; null for hooks and handlers, which run one after the other. */
  parent: number | null
  kind: SpanKind
  /** The function's own name, or what a panel calls it. */
  name: string
  /** Fastify's hook ("onRequest"), null for what is no hook. */
  hook: string | null
  /** True for a hook that its route declares, false for one its plugin added. */
  routeLevel: boolean
  dispatchPoint: DispatchPointName | null
  /** The plugin that registered it. */
  plugin: string | null
  /** Where it was registered, or for a query, where it was asked for. */
  location: Location | null
  start: number
  duration: number
  outcome: SpanOutcome
  /** A line more: the SQL of a query, the key of a cache read. */
  detail: string | null
}

export const dispatchPointNames = [
  'kernel.request',
  'kernel.controller',
  'kernel.controller_arguments',
  'kernel.response',
  'kernel.finish_request',
] as const

export type DispatchPointName = (typeof dispatchPointNames)[number]

/** All five, always, in order; one that never came has `start: null` and no listeners. */
export interface DispatchPoint {
  name: DispatchPointName
  /** The Fastify hooks it stands for. */
  hooks: string[]
  start: number | null
  duration: number | null
  /** Span ids, in the order they ran. */
  listeners: number[]
  interrupted: Interruption | null
}

export interface Interruption {
  /** The span that stopped it; null when it was none of the application's: Fastify itself failed (on a malformed URL). */
  span: number | null
  /** Index of the exception in `profile.exceptions`; null when it was interrupted by an answer. */
  exception: number | null
}

export interface Routing {
  matched: MatchedRoute | null
  /** When nothing matched: what nearly did, as the routes stood at the time of the request; nearest first. */
  nearMisses: NearMiss[]
  /** How many routes there were to match. */
  routes: number
}

export interface Route {
  method: string[]
  url: string
  host: string | null
  /** What Accept-Version must ask for, where anything. */
  version?: string
  /** The handler's name. */
  handler: string
  plugin: string | null
  location: Location | null
}

export interface MatchedRoute extends Route {
  params: Record<string, Json>
}

/**
 * method: same path, other methods. slash: with or without the slash at the end. host, version, constraint: the same
 * route for another one. parameter: a parameter of the path is not what the route takes. case: the same path in other
 * letters. similar: a path that looks like it.
 */
export type NearMissReason = 'method' | 'slash' | 'host' | 'version' | 'constraint' | 'parameter' | 'case' | 'similar'

export interface NearMiss extends Route {
  reason: NearMissReason
  /** Edits between the path asked for and the route's, in letters of one case; 1 for `slash`. */
  distance: number
}

export interface EventLoopUse {
  /** Share of the request's time in which the loop was busy (with anything), 0 to 1. */
  utilization: number
  active: number
  idle: number
}

/** Bytes, of the whole process: other requests are in it. */
export interface MemoryUse {
  heapUsedAtStart: number
  heapUsedAtEnd: number
  heapTotal: number
  heapLimit: number
}

export interface Dropped {
  what:
    'spans' | 'logs' | 'exceptions' | 'frames' | 'headers' | 'values' | 'notes' | 'texts' | 'secrets' | (string & {})
  count: number
  /** The bound that dropped it, as a sentence. */
  why: string
}

/** Microseconds by the clock. */
export interface Cost {
  /** While the request ran, an error page or toolbar included: none of the request's times contains those. */
  trace: number
  /** After the client had its answer. */
  collect: number
  /** Storing the profile before this one, of which the same is true; this one's own is known too late. */
  store: number
}

/** What the application was when requests ran; many profiles share one. */
export interface Configuration {
  key: string
  versions: Record<string, string>
  environment: string | null
  /** Allow-listed by the application; nothing is taken from the environment on its own. */
  settings: Record<string, Json>
  plugins: PluginNode
  routes: Route[]
}

export interface PluginNode {
  name: string
  /** Milliseconds it took to load. */
  duration: number | null
  children: PluginNode[]
}

/** What a search answers for each profile: enough for a row. */
export interface ProfileSummary {
  token: string
  parent: string | null
  time: number
  duration: number
  status: number | null
  outcome: Outcome
  method: string
  url: string
  host: string | null
  ip: string | null
  /** Pattern of the matched route. */
  route: string | null
  exception: string | null
  logErrors: number
  labels: Record<string, string>
}

/** The fields of the search form, as they stand in the query string. */
export interface SearchCriteria {
  token?: string
  method?: string
  /** "404", "4xx", ">=400". */
  status?: string
  url?: string
  route?: string
  host?: string
  ip?: string
  /** Anywhere in "Class: message". */
  exception?: string
  /** The token of the request that caused it. */
  parent?: string
  /** Milliseconds, at least and at most. */
  durationFrom?: number
  durationTo?: number
  /** Milliseconds since 1970. */
  timeFrom?: number
  timeTo?: number
  /** A label: { license: "Louvre" }. */
  labels?: Record<string, string>
  page?: number
  perPage?: number
}

export interface SearchResult {
  criteria: SearchCriteria
  /** Sentences about what was asked for and makes no sense; it was left out. */
  problems: string[]
  profiles: ProfileSummary[]
  /** All that match, on any page. */
  total: number
  page: number
  pages: number
}
