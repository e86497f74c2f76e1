import type { IncomingMessage, ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'
import { parse } from 'node:querystring'
import { isDeepStrictEqual } from 'node:util'
import type { ProfileBounds } from './bounds.ts'
import { type Collecting, type CollectingRecorded, features } from './feature.ts'
import type { FinishedRequest, Panel } from './panel.ts'
import { attempt, isFunction, isObject, kindOfFailure, read, textOf } from './foreign-value.ts'
import type { Boundary } from './guard.ts'
import { type KnownSecrets, masked } from './mask/known-secrets.ts'
import { Mask, maskHeader, maskResponseHeader } from './mask/mask.ts'
import { RequestSecrets, secretsLearned, valuesLearned } from './mask/request-secrets.ts'
import { thisProcess } from './package-version.ts'
import {
  type BlockedTime,
  type EventLoopUse,
  type Exception,
  type HeaderLine,
  type Json,
  type MemoryUse,
  type Outcome,
  type Profile,
  profileVersion,
  type RequestRecord,
  type ResponseRecord,
  type Span,
  type SpanKind,
  toMicroseconds,
  type Unseen,
} from './profile.ts'
import { hostName, pathOfUrl, requestHost } from './urls.ts'
import { leaveOutLate } from './intervals.ts'
import type { Exchange } from './watch/exchange.ts'
import type { KnownRoutes } from './watch/known-routes.ts'
import { notesKept, type Recorder } from './watch/recorder.ts'

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

function countDropped(
  { droppedLines, droppedNotes, droppedSpans }: Recorder,
  { bounds, drop, mask }: Collecting,
  secrets: RequestSecrets,
): void {
  drop('spans', droppedSpans, () => `A profile holds ${bounds.spans} spans.`)
  drop('logs', droppedLines, () => `A profile holds ${bounds.logs} log lines.`)
  drop('values', mask.dropped, () => `A structure holds ${bounds.values} values, ${bounds.depth} levels deep.`)
  drop('notes', droppedNotes, () => `A profile holds ${notesKept} notes.`)
  drop('texts', mask.droppedTexts, () => {
    return `A profile holds ${bounds.texts} characters in which secrets are looked for.`
  })
  drop('secrets', secrets.dropped, () => `A profile knows ${secretsLearned} secrets. With more, it shows no text.`)
  drop('values that may be secrets', secrets.droppedLessons, () => {
    return `Secrets are looked for in ${valuesLearned} values. With more, no text is shown.`
  })
}

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
export function protocolOf({ protocol, raw, request }: Exchange): Profile['protocol'] {
  const told = protocol ?? attempt(() => request?.protocol, undefined)
  if (told === 'http' || told === 'https') return told
  return 'encrypted' in Object(raw.socket) ? 'https' : 'http'
}

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

function headerLinesOf({ raw, response }: Exchange) {
  return { request: receivedLines(raw), response: sentLines(response) }
}

export function headerOf(lines: readonly HeaderLine[], wanted: string): string | null {
  return lines.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? null
}

/** In the order received. A request made by `injectWS` of @fastify/websocket has no raw headers. */
function receivedLines({ rawHeaders, headers }: Pick<IncomingMessage, 'rawHeaders' | 'headers'>): HeaderLine[] {
  if (!Array.isArray(rawHeaders)) return Object.entries(headers).map(([name, value]) => [name, String(value)])
  const lines: HeaderLine[] = []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    lines.push([rawHeaders[index] ?? '', rawHeaders[index + 1] ?? ''])
  }
  return lines
}

function sentLines(response: ServerResponse): HeaderLine[] {
  const lines: HeaderLine[] = []
  for (const [name, value] of Object.entries(response.getHeaders())) {
    for (const item of Array.isArray(value) ? value : [value]) lines.push([name, String(item)])
  }
  return lines
}

function learnSecrets(
  { body, recorder, request }: Exchange,
  headers: ReturnType<typeof headerLinesOf>,
  standing: KnownSecrets | null,
  bounds: ProfileBounds,
): RequestSecrets {
  const secrets = new RequestSecrets(bounds, standing)
  secrets.learnFromHeaders(headers.request)
  secrets.learnFromHeaders(headers.response)
  secrets.learnFromUrl(recorder.url)
  learnRecorded(recorder, secrets)
  // The application may have removed some from the body. Equal ones would count twice.
  const isChanged = body !== undefined && !attempt(() => isDeepStrictEqual(body, request?.body), false)
  if (isChanged) secrets.learnFrom(body)
  for (const part of ['body', 'params', 'query']) secrets.learnFrom(request === null ? null : read(request, part))
  for (const url of [recorder.url, headerOf(headers.request, 'referer') ?? '']) secrets.learnSpellings(url)
  return secrets
}

function learnRecorded(recorder: Recorder, secrets: RequestSecrets): void {
  for (const secret of recorder.secrets) secrets.add(secret)
  secrets.dropped += recorder.droppedSecrets
  for (const { learn } of features) learn?.(recorder, secrets)
}

/** Spans whose names may contain secrets. The names of all others are those of functions. */
export const panelSpans = new Set<SpanKind>(['query', 'http', 'cache', 'other'])

/** Masks and rounds spans in place, because copies are slow. Doing it twice is harmless. */
export function maskSpans(spans: readonly Span[], mask: Mask): void {
  for (const span of spans) {
    span.start = toMicroseconds(span.start)
    span.duration = toMicroseconds(span.duration)
    const { charged, shared, wait } = span
    if (charged !== undefined) span.charged = toMicroseconds(charged)
    if (shared !== undefined) shared.time = toMicroseconds(shared.time)
    if (shared !== undefined) shared.waited = toMicroseconds(shared.waited)
    if (wait !== undefined) wait.start = toMicroseconds(wait.start)
    if (wait !== undefined) wait.duration = toMicroseconds(wait.duration)
    if (span.detail !== null) span.detail = mask.text(span.detail)
    if (panelSpans.has(span.kind)) span.name = mask.text(span.name)
  }
}

/** How busy the event loop was during a request, without the time that the profiler stopped its clock. */
function eventLoopUse(recorder: Recorder, blocked: readonly BlockedTime[]): EventLoopUse {
  const { loop: end, stoodStill } = recorder.used()
  const loop = performance.eventLoopUtilization(end, recorder.loopAtStart)
  const active = Math.max(0, loop.active - stoodStill)
  // Divides by at least a microsecond.
  const utilization = active / Math.max(active + loop.idle, 0.001)
  return {
    utilization: Math.round(utilization * 1000) / 1000,
    active: toMicroseconds(active),
    idle: toMicroseconds(loop.idle),
    blocked: [...blocked],
  }
}

const blockedTimesKept = 100

function blockedTimes({ clock, ended }: Recorder): BlockedTime[] {
  return clock
    .blockedWithin(0, ended ?? clock.now())
    .sort((one, other) => other.duration - one.duration)
    .slice(0, blockedTimesKept)
    .map(({ start, duration, by }) => ({ start: toMicroseconds(start), duration: toMicroseconds(duration), by }))
    .sort((one, other) => one.start - other.start)
}

function memoryUse(recorder: Recorder): MemoryUse {
  const { heap } = recorder.used()
  return {
    heapUsedAtStart: recorder.heapAtStart,
    heapUsedAtEnd: heap.used_heap_size,
    heapTotal: heap.total_heap_size,
    heapLimit: heap.heap_size_limit,
  }
}

interface CollectionParts {
  bounds: ProfileBounds
  secrets: KnownSecrets | null
  routes: KnownRoutes
  panels: ReadonlyArray<Panel<unknown>>
  unseen: readonly Unseen[]
  configuration: string
  toError: ((thrown: Error) => Error) | undefined
}

interface Collected {
  profile: Profile
  /** The text of its samples to store; null if there are none. */
  samples: string | null
  secrets: RequestSecrets
}

function collectFailures(collecting: CollectingRecorded): Pick<Profile, 'exceptions' | 'lifecycle'> {
  const failures = features.find(({ failures }) => failures !== undefined)?.failures
  return failures?.(collecting) ?? { exceptions: [], lifecycle: [] }
}

/** Makes the profile of an exchange: plain data, masked and bounded. Throws if a value cannot be read. */
function collect(exchange: Exchange, parts: CollectionParts): Collected {
  const before = performance.now()
  const { recorder, request, reply } = exchange
  const { bounds, routes, toError } = parts
  const headers = headerLinesOf(exchange)
  const secrets = learnSecrets(exchange, headers, parts.secrets, bounds)
  const mask = new Mask(bounds, secrets)
  const dropped: Profile['dropped'] = []
  let samples: string | null = null
  const drop: Collecting['drop'] = (what, count, why) => {
    if (count > 0) dropped.push({ what, count, why: why() })
  }
  const keepSamples = (text: string) => {
    samples = text
  }
  const blocked = blockedTimes(recorder)
  const isSent = exchange.finished && recorder.ended !== null
  const time = { duration: recorder.ended ?? recorder.now(), blocked, isSent }
  const collecting = { exchange, mask, bounds, routes, time, toError, drop, keepSamples }
  const failed = collectFailures(collecting)
  maskSpans(recorder.spans, mask)
  const operations = recorder.spans.filter(({ kind }) => panelSpans.has(kind))
  leaveOutLate(operations, recorder.spans, time)
  const profile: Profile = {
    version: profileVersion,
    ...describeHead(exchange, mask),
    request: describeRequest(exchange, headers.request, mask),
    response: describeResponse(exchange, headers.response, mask),
    ...failed,
    logs: [],
    spans: recorder.spans,
    routing: { matched: null, nearMisses: [], routes: 0 },
    database: null,
    http: null,
    eventLoop: eventLoopUse(recorder, blocked),
    memory: memoryUse(recorder),
    process: { ...thisProcess },
    configuration: parts.configuration,
    dropped,
    notes: recorder.notes.map(note => mask.text(textOf(note))),
    cost: { trace: Math.round(recorder.clock.ownTime * 1000), collect: 0, store: 0 },
    labels: {},
    panels: {},
  }
  if (parts.unseen.length > 0) profile.unseen = [...parts.unseen]
  for (const { collect } of features) if (collect !== undefined) Object.assign(profile, collect(collecting))
  collectPanels(profile, { request, reply, recorder }, parts.panels, mask)
  countDropped(recorder, collecting, secrets)
  profile.cost.collect = Math.round((performance.now() - before) * 1000)
  return { profile, samples, secrets }
}

/** Makes a profile of an exchange that `collect` cannot read. It has the head of the request and response only. */
function collectBare(exchange: Exchange, parts: CollectionParts, failure: string): Collected {
  const { recorder } = exchange
  recorder.forget()
  recorder.note(
    `The profiler could not read all of this request (${failure}), and kept only its head. The log says why.`,
  )
  return collect({ ...exchange, request: null, reply: null }, { ...parts, panels: [] })
}

function describeRequest(exchange: Exchange, headers: readonly HeaderLine[], mask: Mask): RequestRecord {
  const { recorder, request, received } = exchange
  return {
    headers: headers.map(line => maskHeader(line, mask)),
    query: mask.record(parse(/\?(.*)/s.exec(recorder.url)?.[1] ?? '', '&', '=', { maxKeys: 0 })),
    params: mask.record(request === null ? null : read(request, 'params')),
    cookies: cookiesOf(headers, mask),
    body: bodyOf(exchange, mask),
    contentType: mask.textOrNull(headerOf(headers, 'content-type')),
    bodySize: received?.bytes ?? null,
  }
}

/**
 * The body as Fastify has parsed it, or else as a hook or handler has. The properties of a stream, which is passed on
 * unparsed, would say nothing.
 */
function bodyOf({ body, request }: Exchange, mask: Mask): Json {
  const bodies = request === null ? [] : [body, read(request, 'body')]
  return mask.value(bodies.find(each => each != null && !isStream(each)))
}

function isStream(body: unknown): boolean {
  return isObject(body) && isFunction(read(body, 'pipe'))
}

function cookiesOf(lines: readonly HeaderLine[], mask: Mask): Record<string, string> {
  const pairs = lines.flatMap(([name, value]) => (name.toLowerCase() === 'cookie' ? value.split(';') : []))
  return Object.fromEntries(pairs.map(pair => [mask.text(pair.replace(/=.*/s, '').trim()), masked]))
}

function describeResponse(exchange: Exchange, headers: readonly HeaderLine[], mask: Mask): ResponseRecord {
  const { answer, recorder } = exchange
  return {
    headers: headers.map(line => maskResponseHeader(line, recorder.token, mask)),
    contentType: mask.textOrNull(headerOf(headers, 'content-type')),
    bodySize: recorder.method === 'HEAD' ? 0 : answer.bytes,
    streamed: answer.chunks > 1,
  }
}

/** Makes a profile of every exchange, even if not all of it can be read. */
export class Collector {
  /** Whether code of the application takes part: panels of its own, or `toError`. */
  readonly asksApplication: boolean
  readonly #parts: CollectionParts
  readonly #boundary: Boundary

  constructor(parts: CollectionParts, boundary: Boundary) {
    this.asksApplication = parts.panels.length > 0 || parts.toError !== undefined
    this.#parts = parts
    this.#boundary = boundary
  }

  setConfiguration(key: string): void {
    this.#parts.configuration = key
  }

  /**
   * Makes a profile and passes it to `use`, with the text of its samples if it has any. If either throws, `use` gets a
   * bare profile instead, so that every request has one.
   * @returns the result of `use`
   */
  collect<Result>(exchange: Exchange, use: (collected: Collected) => Result): Result {
    try {
      return use(collect(exchange, this.#parts))
    } catch (error) {
      this.#boundary.tell(error)
      return use(collectBare(exchange, this.#parts, kindOfFailure(error)))
    }
  }

  /**
   * Makes what to add to a stored profile, of what its request has done since, with the request's own secrets masked.
   * @param duration of the request
   */
  collectLate(recorder: Recorder, secrets: RequestSecrets, duration: number): Partial<Profile>[] {
    learnRecorded(recorder, secrets)
    const collecting = this.#collecting(recorder, secrets, duration)
    return [collectFailures(collecting), ...features.map(({ collectLate }) => collectLate?.(collecting) ?? {})]
  }

  /** Makes only the exceptions of an exchange, masked and bounded. Throws if a value cannot be read. */
  collectExceptions(exchange: Exchange): Exception[] {
    const { bounds, secrets } = this.#parts
    const own = learnSecrets(exchange, headerLinesOf(exchange), secrets, bounds)
    return collectFailures(this.#collecting(exchange.recorder, own, 0)).exceptions
  }

  #collecting(recorder: Recorder, secrets: RequestSecrets, duration: number): CollectingRecorded {
    const { bounds, toError } = this.#parts
    const time = { duration, blocked: [] }
    return { exchange: { recorder }, mask: new Mask(bounds, secrets), bounds, time, toError, drop() {} }
  }
}
