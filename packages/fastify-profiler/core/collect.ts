import { performance } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import { type ChainLosses, describeFailures } from '../features/exceptions/describe-failures.ts'
import { describeHttpCalls, recordedHttpCalls } from '../features/http-client/http-calls.ts'
import { describeLifecycle } from '../features/lifecycle/describe-lifecycle.ts'
import { describeLogLine } from '../features/logs/log-recorder.ts'
import { maskQuery } from '../features/queries/bound-values.ts'
import { describeQueries, recordedQueries, unusedWaits } from '../features/queries/recorded-queries.ts'
import {
  describeRequest,
  describeResponse,
  type HeaderLines,
  headerLinesOf,
  headerOf,
} from '../features/request/describe-request.ts'
import { describeRouting, type SimilarRoutes } from '../features/routing/similar-routes.ts'
import { describeSamples } from '../features/samples/describe-samples.ts'
import { samplingOf } from '../features/samples/sampling.ts'
import type { ProfileBounds } from './bounds.ts'
import type { FinishedRequest, Panel } from './panel.ts'
import { attempt, isObject, kindOfFailure, read, textOf } from './foreign-value.ts'
import type { Boundary } from './guard.ts'
import type { KnownSecrets } from './mask/known-secrets.ts'
import { Mask } from './mask/mask.ts'
import { RequestSecrets, secretsLearned, valuesLearned } from './mask/request-secrets.ts'
import { thisProcess } from './package-version.ts'
import {
  type BlockedTime,
  type Dropped,
  type EventLoopUse,
  type Exception,
  type MemoryUse,
  type Outcome,
  type Profile,
  profileVersion,
  type Span,
  type SpanKind,
  toMicroseconds,
  type Unseen,
} from './profile.ts'
import { hostName, pathOfUrl, requestHost } from './request-target.ts'
import type { Exchange } from './watch/exchange.ts'
import type { KnownRoutes } from './watch/known-routes.ts'
import { notesKept, type Recorder } from './watch/recorder.ts'

/** Adds the data and labels of the application's panels to a profile. */
function collectPanels(
  profile: Profile,
  source: Omit<FinishedRequest, 'profile'>,
  panels: ReadonlyArray<Panel<unknown>>,
  mask: Mask,
): void {
  const finished = { ...source, profile }
  for (const panel of panels) {
    try {
      const data = panel.collect(finished)
      if (data === null) continue
      profile.panels[panel.name] = mask.value(data)
      for (const [name, value] of Object.entries(panel.labels?.(data) ?? {})) profile.labels[name] = mask.text(value)
    } catch (error) {
      profile.notes.push(mask.text(`The panel "${panel.name}" failed to collect: ${textOf(error)}`))
    }
  }
}

/** What the profile of a request leaves out, for each bound that was reached. */
function countDropped(
  recorder: Recorder,
  losses: ChainLosses,
  mask: Mask,
  secrets: RequestSecrets,
  bounds: ProfileBounds,
): Dropped[] {
  const exceptions = losses.exceptions + recorder.droppedFailures
  const dropped: Dropped[] = []
  const add = (what: string, count: number, why: () => string) => {
    if (count > 0) dropped.push({ what, count, why: why() })
  }
  add('spans', recorder.droppedSpans, () => `A profile holds ${bounds.spans} spans.`)
  add('logs', recorder.droppedLines, () => `A profile holds ${bounds.logs} log lines.`)
  add('exceptions', exceptions, () => `A profile holds ${bounds.exceptions} exceptions.`)
  add('frames', losses.frames, () => `An exception holds ${bounds.frames} frames.`)
  add('values', mask.dropped, () => `A structure holds ${bounds.values} values, ${bounds.depth} levels deep.`)
  add('notes', recorder.droppedNotes, () => `A profile holds ${notesKept} notes.`)
  add('texts', mask.texts.dropped, () => {
    return `A profile holds ${bounds.texts} characters in which secrets are looked for.`
  })
  add('secrets', secrets.dropped, () => `A profile knows ${secretsLearned} secrets. With more, it shows no text.`)
  add('values that may be secrets', secrets.droppedLessons, () => {
    return `Secrets are looked for in ${valuesLearned} values. With more, no text is shown.`
  })
  return dropped
}

/** How an exchange ended. */
function outcomeOf({ raw, response, answer, upgrade, hijacked, finished }: Exchange): Outcome {
  // HTTP/2 emits `finish` for a broken response too.
  if (answer.brokenOff) return 'broken'
  if (finished) return hijacked ? 'hijacked' : 'completed'
  if (upgrade?.status === 101) return 'upgraded'
  // The application refused the upgrade on the socket.
  if (upgrade !== null && upgrade.status !== null) return 'hijacked'
  return response.destroyed || raw.socket?.destroyed ? 'aborted' : 'unfinished'
}

/** Fastify's `request.protocol` if it is valid: with `trustProxy` it may be any text. Otherwise the connection's. */
export function protocolOf({ raw, request }: Exchange): Profile['protocol'] {
  const told = attempt(() => request?.protocol, undefined)
  if (told === 'http' || told === 'https') return told
  return 'encrypted' in Object(raw.socket) ? 'https' : 'http'
}

/** The head of a profile: request line, client, status, outcome and times. */
function describeHead(exchange: Exchange, mask: Mask) {
  const { recorder, raw, response, answer, upgrade, request } = exchange
  const host = requestHost(raw)
  const ip = attempt(() => request?.ip, undefined) ?? recorder.remoteAddress
  return {
    token: recorder.token,
    parent: recorder.parent,
    ...(recorder.isReplay && { isReplay: recorder.isReplay }),
    time: recorder.time,
    duration: toMicroseconds(recorder.ended ?? recorder.now()),
    status: response.headersSent ? answer.status : (upgrade?.status ?? null),
    outcome: outcomeOf(exchange),
    method: recorder.method,
    url: mask.text(recorder.url),
    path: mask.text(pathOfUrl(recorder.url)),
    host: host === null ? null : mask.text(hostName(host)),
    ip: mask.textOrNull(ip),
    protocol: protocolOf(exchange),
    httpVersion: raw.httpVersion,
    requestId: request === null ? null : mask.text(textOf(request.id)),
  }
}

/** Learns the secrets in an exchange's headers, URL, body and parameters, and those that panels have named. */
function learnSecrets(
  { recorder, request }: Exchange,
  headers: HeaderLines,
  standing: KnownSecrets | null,
  bounds: ProfileBounds,
): RequestSecrets {
  const secrets = new RequestSecrets(bounds, standing)
  secrets.learnFromHeaders(headers.request)
  secrets.learnFromHeaders(headers.response)
  secrets.learnFromUrl(recorder.url)
  for (const secret of recorder.secrets) secrets.add(secret)
  secrets.dropped += recorder.droppedSecrets
  // The fields of a document have names, as those of a body do.
  for (const { parameters } of recordedQueries(recorder)?.first ?? []) {
    if (parameters.some(isObject)) secrets.learnFrom(parameters)
  }
  for (const { url } of recordedHttpCalls(recorder)?.first ?? []) secrets.learnFromUrl(url)
  for (const part of ['body', 'params', 'query']) secrets.learnFrom(request === null ? null : read(request, part))
  for (const url of [recorder.url, headerOf(headers.request, 'referer') ?? '']) secrets.learnSpellings(url)
  return secrets
}

/** Spans whose names may contain secrets. The names of all others are those of functions. */
const panelSpans = new Set<SpanKind>(['query', 'http', 'cache', 'other'])

/** Masks and rounds spans in place, because copies are slow. Doing it twice is harmless. */
export function maskSpans(spans: readonly Span[], mask: Mask): void {
  for (const span of spans) {
    span.start = toMicroseconds(span.start)
    span.duration = toMicroseconds(span.duration)
    const { shared, wait } = span
    if (shared !== undefined) shared.time = toMicroseconds(shared.time)
    if (shared !== undefined) shared.waited = toMicroseconds(shared.waited)
    if (wait !== undefined) wait.start = toMicroseconds(wait.start)
    if (wait !== undefined) wait.duration = toMicroseconds(wait.duration)
    if (span.detail !== null) span.detail = withoutValues(span.kind, mask.text(span.detail))
    if (panelSpans.has(span.kind)) span.name = mask.text(span.name)
  }
}

/** A query may contain a secret that is only told by its column. */
function withoutValues(kind: SpanKind, detail: string): string {
  return kind === 'query' ? maskQuery(detail, []).sql : detail
}

/** How busy the event loop was during a request, without the time that the profiler stopped its clock. */
function eventLoopUse({ loopAtStart, clock }: Recorder, blocked: readonly BlockedTime[]): EventLoopUse {
  const loop = performance.eventLoopUtilization(loopAtStart)
  const active = Math.max(0, loop.active - clock.stoodStill)
  // Divides by at least a microsecond.
  const utilization = active / Math.max(active + loop.idle, 0.001)
  return {
    utilization: Math.round(utilization * 1000) / 1000,
    active: toMicroseconds(active),
    idle: toMicroseconds(loop.idle),
    blocked: blocked.map(({ start, duration, by }) => ({
      start: toMicroseconds(start),
      duration: toMicroseconds(duration),
      by,
    })),
  }
}

const blockedTimesKept = 100

/** The longest times in which the event loop was blocked during a request, in order. */
function blockedTimes({ clock, ended }: Recorder): BlockedTime[] {
  return clock
    .blockedWithin(0, ended ?? clock.now())
    .sort((one, other) => other.duration - one.duration)
    .slice(0, blockedTimesKept)
    .sort((one, other) => one.start - other.start)
}

function memoryUse({ heapAtStart }: Recorder): MemoryUse {
  const heap = getHeapStatistics()
  return {
    heapUsedAtStart: heapAtStart,
    heapUsedAtEnd: heap.used_heap_size,
    heapTotal: heap.total_heap_size,
    heapLimit: heap.heap_size_limit,
  }
}

interface CollectionParts {
  bounds: ProfileBounds
  secrets: KnownSecrets | null
  routes: KnownRoutes
  similar: SimilarRoutes
  panels: ReadonlyArray<Panel<unknown>>
  unseen: readonly Unseen[]
  configuration: string
  toError: (thrown: Error) => Error
}

/** A profile, and the text of its samples to store; null if there is none. */
interface Collected {
  profile: Profile
  samples: string | null
}

/** Makes the profile of an exchange: plain data, masked and bounded. Throws if a value cannot be read. */
function collect(exchange: Exchange, parts: CollectionParts): Collected {
  const before = performance.now()
  const { recorder, request, reply } = exchange
  const { bounds } = parts
  const headers = headerLinesOf(exchange)
  const secrets = learnSecrets(exchange, headers, parts.secrets, bounds)
  const mask = new Mask(bounds, secrets)
  const { exceptions, origins, losses } = describeFailures(recorder.failures, parts.toError, mask, bounds)
  recorder.spans.push(...unusedWaits(recorder))
  maskSpans(recorder.spans, mask)
  const blocked = blockedTimes(recorder)
  const time = { duration: recorder.ended ?? recorder.now(), blocked }
  const profile: Profile = {
    version: profileVersion,
    ...describeHead(exchange, mask),
    request: describeRequest(exchange, headers.request, mask),
    response: describeResponse(exchange, headers.response, mask),
    exceptions,
    logs: recorder.lines.map(line => describeLogLine(line, mask)),
    spans: recorder.spans,
    lifecycle: describeLifecycle(recorder.spans, recorder.marks, origins),
    routing: describeRouting(exchange, parts, mask),
    database: describeQueries(recordedQueries(recorder), recorder.spans, time, mask),
    http: describeHttpCalls(recordedHttpCalls(recorder), recorder.spans, time, mask),
    eventLoop: eventLoopUse(recorder, blocked),
    memory: memoryUse(recorder),
    process: { ...thisProcess },
    configuration: parts.configuration,
    dropped: [],
    notes: recorder.notes.map(note => mask.text(textOf(note))),
    cost: { trace: Math.round(recorder.clock.ownTime * 1000), collect: 0, store: 0 },
    labels: {},
    panels: {},
  }
  if (parts.unseen.length > 0) profile.unseen = [...parts.unseen]
  collectPanels(profile, { request, reply, recorder }, parts.panels, mask)
  const sampling = samplingOf(recorder)
  const samples = sampling === null ? null : describeSamples(sampling, mask, bounds)
  if (samples !== null) profile.samples = samples.summary
  profile.dropped = countDropped(recorder, losses, mask, secrets, bounds)
  profile.cost.collect = Math.round((performance.now() - before) * 1000)
  return { profile, samples: samples?.text ?? null }
}

/** Makes only the exceptions of an exchange, masked and bounded, since the rest of a profile takes much longer. */
function collectExceptions(exchange: Exchange, { bounds, secrets, toError }: CollectionParts): Exception[] {
  const mask = new Mask(bounds, learnSecrets(exchange, headerLinesOf(exchange), secrets, bounds))
  return describeFailures(exchange.recorder.failures, toError, mask, bounds).exceptions
}

/** Makes a profile of an exchange that `collect` cannot read. It has the head of the request and response only. */
function collectBare(exchange: Exchange, parts: CollectionParts, failure: string): Collected {
  const { recorder } = exchange
  recorder.forget()
  recorder.note(
    `The profiler could not read all of this request (${failure}), and kept only its head. The log says why.`,
  )
  const collected = collect({ ...exchange, request: null, reply: null }, { ...parts, panels: [] })
  const { profile } = collected
  const mask = new Mask(parts.bounds, new RequestSecrets(parts.bounds, null))
  profile.routing = attempt(() => describeRouting(exchange, parts, mask), profile.routing)
  if (profile.routing.matched !== null) profile.routing.matched.params = {}
  return collected
}

/** Makes a profile of every exchange, even if not all of it can be read. */
export class Collector {
  readonly #parts: CollectionParts
  readonly #boundary: Boundary

  constructor(parts: CollectionParts, boundary: Boundary) {
    this.#parts = parts
    this.#boundary = boundary
  }

  /** Sets the key of the configuration for profiles from now on. */
  setConfiguration(key: string): void {
    this.#parts.configuration = key
  }

  /**
   * Makes a profile and passes it to `use`, with the text of its samples if it has any. If either throws, `use` gets a
   * bare profile instead, so that every request has one.
   * @returns the result of `use`
   */
  collect<Result>(exchange: Exchange, use: (profile: Profile, samples: string | null) => Result): Result {
    try {
      const { profile, samples } = collect(exchange, this.#parts)
      return use(profile, samples)
    } catch (error) {
      this.#boundary.tell(error)
      const { profile, samples } = collectBare(exchange, this.#parts, kindOfFailure(error))
      return use(profile, samples)
    }
  }

  /** Makes only the exceptions of an exchange. Throws if a value cannot be read. */
  collectExceptions(exchange: Exchange): Exception[] {
    return collectExceptions(exchange, this.#parts)
  }
}
