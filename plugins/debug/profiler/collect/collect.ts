import type { IncomingMessage, ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ProfileBounds } from '../base/bounds.ts'
import { hostName, requestHost } from '../base/request-host.ts'
import { pathOfUrl } from '../base/request-path.ts'
import type { Exchange } from '../watch/exchange.ts'
import { describeExceptions, type ChainLosses, type ExceptionChains } from './exception-chain.ts'
import { attempt, isError, read, textOf } from '../base/foreign-value.ts'
import { type KnownSecrets, masked } from '../mask/known-secrets.ts'
import { describeLifecycle, type Origins } from './describe-lifecycle.ts'
import { maskHeader, maskResponseHeader } from '../mask/mask-header.ts'
import { Mask } from '../mask/mask.ts'
import { toMicroseconds } from '../base/microseconds.ts'
import type { Panel } from './panel.ts'
import {
  profileVersion,
  type DispatchPointName,
  type Dropped,
  type EventLoopUse,
  type HeaderLine,
  type Json,
  type LogLine,
  type MatchedRoute,
  type Outcome,
  type Profile,
  type Routing,
  type SpanKind,
} from '../base/profile.ts'
import { notesKept, type Failure, type Recorder } from '../watch/recorder.ts'
import { RequestSecrets, secretsLearned, valuesLearned } from '../mask/request-secrets.ts'
import type { Asked, KnownRoutes } from '../watch/known-routes.ts'

/** What collecting needs besides the exchange. */
export interface CollectionParts {
  bounds: ProfileBounds
  secrets: KnownSecrets | null
  routes: KnownRoutes
  panels: ReadonlyArray<Panel<unknown>>
  configuration: string
  toError: (thrown: Error) => Error
}

/** What panels record, under names of their own making. */
const panelSpans = new Set<SpanKind>(['query', 'cache', 'other'])

const processStart = Math.round(performance.timeOrigin)

/** Makes the profile of a request out of what was recorded: plain, masked, bounded. */
export function collect(exchange: Exchange, parts: CollectionParts): Profile {
  const before = performance.now()
  const { recorder, raw, response, answer, request, reply } = exchange
  const { bounds } = parts
  const secrets = new RequestSecrets(bounds, parts.secrets)
  const mask = new Mask(bounds, secrets)
  const requestHeaders = headerLines(raw)
  const responseHeaders = answerHeaders(response)
  secrets.learnFromHeaders(requestHeaders)
  secrets.learnFromHeaders(responseHeaders)
  secrets.learnFromUrl(recorder.url)
  for (const secret of recorder.secrets) secrets.add(secret)
  secrets.dropped += recorder.droppedSecrets
  for (const part of ['body', 'params', 'query']) secrets.learnFrom(request === null ? null : read(request, part))
  for (const url of [recorder.url, headerOf(requestHeaders, 'referer') ?? '']) secrets.learnSpellings(url)

  const losses: ChainLosses = { exceptions: 0, frames: 0 }
  const chains = describeExceptions(
    recorder.failures.map(({ error }) => (isError(error) ? attempt(() => parts.toError(error), error) : error)),
    mask,
    bounds,
    losses,
  )
  const duration = toMicroseconds(recorder.ended ?? recorder.now())
  const { spans } = recorder
  // In place, and harmless when it is done twice: copies of spans were a third of what a profile costs.
  for (const span of spans) {
    span.start = toMicroseconds(span.start)
    span.duration = toMicroseconds(span.duration)
    if (span.detail !== null) span.detail = mask.text(span.detail)
    // The tracer's are those of functions.
    if (panelSpans.has(span.kind)) span.name = mask.text(span.name)
  }
  for (const { frames } of chains.list) {
    for (const frame of frames) if (frame.function !== null) frame.function = mask.text(frame.function)
  }
  const host = requestHost(raw)
  const heap = getHeapStatistics()
  const profile: Profile = {
    version: profileVersion,
    token: recorder.token,
    parent: recorder.parent,
    time: recorder.time,
    duration,
    status: response.headersSent ? answer.status : (exchange.upgrade?.status ?? null),
    outcome: outcomeOf(exchange),
    method: recorder.method,
    url: mask.text(recorder.url),
    path: mask.text(pathOfUrl(recorder.url)),
    host: host === null ? null : mask.text(hostName(host)),
    ip: maskedOrNull(attempt(() => request?.ip, undefined) ?? recorder.remoteAddress, mask),
    protocol: protocolOf(exchange),
    httpVersion: raw.httpVersion,
    requestId: request === null ? null : mask.text(textOf(request.id)),
    request: {
      headers: requestHeaders.map(line => maskHeader(line, mask.texts)),
      query: mask.record(queryOf(recorder.url)),
      params: mask.record(request === null ? null : read(request, 'params')),
      cookies: cookiesOf(requestHeaders, mask),
      body: mask.value(request === null ? null : read(request, 'body')),
      contentType: maskedOrNull(headerOf(requestHeaders, 'content-type'), mask),
      bodySize: exchange.received?.bytes ?? null,
    },
    response: {
      headers: responseHeaders.map(line => maskResponseHeader(line, recorder.token, mask.texts)),
      contentType: maskedOrNull(headerOf(responseHeaders, 'content-type'), mask),
      bodySize: recorder.method === 'HEAD' ? 0 : answer.bytes,
      streamed: answer.streamed,
    },
    exceptions: chains.list,
    logs: recorder.lines.map(({ start, line }) => logLine(start, line, mask)),
    spans,
    lifecycle: describeLifecycle(spans, recorder.marks, originsOf(recorder.failures, chains)),
    routing: routingOf(exchange, parts.routes, mask),
    eventLoop: eventLoopOf(recorder),
    memory: {
      heapUsedAtStart: recorder.heapAtStart,
      heapUsedAtEnd: heap.used_heap_size,
      heapTotal: heap.total_heap_size,
      heapLimit: heap.heap_size_limit,
    },
    process: { id: process.pid, startedAt: processStart },
    configuration: parts.configuration,
    dropped: [],
    notes: recorder.notes.map(note => mask.text(textOf(note))),
    cost: { trace: Math.round(recorder.ownTime * 1000), collect: 0, store: 0 },
    labels: {},
    panels: {},
  }
  collectPanels(profile, { request, reply, recorder }, parts.panels, mask)
  profile.dropped = droppedOf(recorder, losses, mask, secrets, bounds)
  profile.cost.collect = Math.round((performance.now() - before) * 1000)
  return profile
}

/** The profile of a request of which something cannot be read: that it came and how it was answered, and no more. */
export function collectBare(exchange: Exchange, parts: CollectionParts, failure: string): Profile {
  const { recorder } = exchange
  recorder.forget()
  recorder.note(
    `The profiler could not read all of this request (${failure}), and kept only its head. The log says why.`,
  )
  const profile = collect({ ...exchange, request: null, reply: null }, { ...parts, panels: [] })
  profile.routing = attempt(
    () => routingOf(exchange, parts.routes, new Mask(parts.bounds, new RequestSecrets(parts.bounds, null))),
    profile.routing,
  )
  if (profile.routing.matched !== null) profile.routing.matched.params = {}
  return profile
}

function collectPanels(
  profile: Profile,
  source: { request: FastifyRequest | null; reply: FastifyReply | null; recorder: Recorder },
  panels: ReadonlyArray<Panel<unknown>>,
  mask: Mask,
): void {
  for (const panel of panels) {
    try {
      const data = panel.collect({ ...source, profile })
      if (data === null) continue
      profile.panels[panel.name] = mask.value(data)
      for (const [name, value] of Object.entries(panel.labels?.(data) ?? {})) profile.labels[name] = mask.text(value)
    } catch (error) {
      profile.notes.push(mask.text(`The panel "${panel.name}" failed to collect: ${textOf(error)}`))
    }
  }
}

function droppedOf(
  recorder: Recorder,
  losses: ChainLosses,
  mask: Mask,
  secrets: RequestSecrets,
  bounds: ProfileBounds,
): Dropped[] {
  const candidates: Dropped[] = [
    { what: 'spans', count: recorder.droppedSpans, why: `A profile holds ${bounds.spans} spans.` },
    { what: 'logs', count: recorder.droppedLines, why: `A profile holds ${bounds.logs} log lines.` },
    {
      what: 'exceptions',
      count: losses.exceptions + recorder.droppedFailures,
      why: `A profile holds ${bounds.exceptions} exceptions.`,
    },
    { what: 'frames', count: losses.frames, why: `An exception holds ${bounds.frames} frames.` },
    {
      what: 'values',
      count: mask.dropped,
      why: `A structure holds ${bounds.values} values, ${bounds.depth} levels deep.`,
    },
    { what: 'notes', count: recorder.droppedNotes, why: `A profile holds ${notesKept} notes.` },
    {
      what: 'texts',
      count: mask.texts.dropped,
      why: `A profile holds ${bounds.texts} characters in which secrets are looked for.`,
    },
    {
      what: 'secrets',
      count: secrets.dropped,
      why: `A profile knows ${secretsLearned} secrets, and shows no text where there are more.`,
    },
    {
      what: 'values that may be secrets',
      count: secrets.droppedLessons,
      why: `Secrets are looked for in ${valuesLearned} values, and no text is shown where there are more.`,
    },
  ]
  return candidates.filter(({ count }) => count > 0)
}

/** Finds for each failed span and phase the exception it threw, and tells the exceptions of their spans. */
function originsOf(failures: readonly Failure[], { list, thrown }: ExceptionChains): Origins {
  const spans = new Map<number, number>()
  const phases = new Map<DispatchPointName, number>()
  failures.forEach((failure, position) => {
    const index = thrown[position] ?? -1
    const exception = list[index]
    if (exception === undefined) return
    exception.spans = failure.spans
    exception.handlers = failure.handlers
    for (const span of failure.spans) spans.set(span, index)
    if (failure.phase !== null) phases.set(failure.phase, index)
  })
  return { spans, phases }
}

/** Fastify's own answer where there is one: behind a proxy it may know better, or repeat what anybody wrote. */
export function protocolOf({ raw, request }: Exchange): Profile['protocol'] {
  const told = attempt(() => request?.protocol, undefined)
  if (told === 'http' || told === 'https') return told
  return 'encrypted' in Object(raw.socket) ? 'https' : 'http'
}

/** How busy the loop was with anything but the profiler's pages. */
function eventLoopOf({ loopAtStart, stoodStill }: Recorder): EventLoopUse {
  const loop = performance.eventLoopUtilization(loopAtStart)
  const active = Math.max(0, loop.active - stoodStill)
  // A microsecond at least: nothing cannot be divided by nothing.
  const utilization = active / Math.max(active + loop.idle, 0.001)
  return {
    utilization: Math.round(utilization * 1000) / 1000,
    active: toMicroseconds(active),
    idle: toMicroseconds(loop.idle),
  }
}

function outcomeOf({ raw, response, answer, upgrade, hijacked, finished }: Exchange): Outcome {
  // Of HTTP/2 a broken answer is said to be finished, too.
  if (answer.brokenOff) return 'broken'
  if (finished) return hijacked ? 'hijacked' : 'completed'
  if (upgrade?.status === 101) return 'upgraded'
  // Its protocol was refused past the response.
  if (upgrade !== null && upgrade.status !== null) return 'hijacked'
  return response.destroyed || raw.socket?.destroyed ? 'aborted' : 'unfinished'
}

function routingOf({ raw, request, recorder }: Exchange, routes: KnownRoutes, mask: Mask): Routing {
  const pattern = request === null || request.is404 ? undefined : request.routeOptions.url
  const count = routes.routes.length
  if (pattern !== undefined && request !== null) {
    const route = routes.find(request.routeOptions.config)
    const matched: MatchedRoute = {
      // What the table says of it comes below; it knows no route that was added before the profiler.
      method: [recorder.method],
      url: pattern,
      host: null,
      handler: 'anonymous',
      plugin: null,
      location: null,
      ...route,
      params: mask.record(read(request, 'params')),
    }
    return { matched, nearMisses: [], routes: count }
  }
  return { matched: null, nearMisses: routes.nearMisses(askedOf(raw, recorder)), routes: count }
}

function askedOf(raw: IncomingMessage, { method, url }: Recorder): Asked {
  return {
    method,
    path: pathOfUrl(url),
    host: requestHost(raw) ?? '',
    version: String(raw.headers['accept-version'] ?? ''),
  }
}

/** What every line has, and a profile says once or in a place of its own. */
const ownFields = new Set(['level', 'time', 'pid', 'hostname', 'msg', '__proto__'])

function logLine(start: number, line: string, mask: Mask): LogLine {
  const parsed = parseLine(line)
  const { level, msg } = parsed
  const fields: Record<string, Json> = {}
  for (const name of Object.keys(parsed)) {
    if (!ownFields.has(name)) fields[mask.text(name)] = mask.value(parsed[name], name)
  }
  return {
    level: typeof level === 'number' ? level : 30,
    start: toMicroseconds(start),
    message: typeof msg === 'string' ? mask.text(msg) : '',
    fields,
  }
}

function parseLine(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line)
    return isRecord(value) ? value : { msg: line }
  } catch {
    return { msg: line }
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** As they came in. A request that is no message of Node's, as `injectWS` of @fastify/websocket makes one, has no raw ones. */
function headerLines({ rawHeaders, headers }: Pick<IncomingMessage, 'rawHeaders' | 'headers'>): HeaderLine[] {
  if (!Array.isArray(rawHeaders)) return Object.entries(headers).map(([name, value]) => [name, String(value)])
  const lines: HeaderLine[] = []
  let name: string | null = null
  for (const text of rawHeaders) {
    if (name === null) {
      name = text
    } else {
      lines.push([name, text])
      name = null
    }
  }
  return lines
}

function answerHeaders(response: ServerResponse): HeaderLine[] {
  const lines: HeaderLine[] = []
  for (const name of response.getHeaderNames()) {
    const value = response.getHeader(name)
    if (Array.isArray(value)) for (const item of value) lines.push([name, String(item)])
    else lines.push([name, String(value)])
  }
  return lines
}

function headerOf(lines: readonly HeaderLine[], wanted: string): string | null {
  return lines.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? null
}

function maskedOrNull(text: string | null, mask: Mask): string | null {
  return text === null ? null : mask.text(text)
}

function cookiesOf(lines: readonly HeaderLine[], mask: Mask): Record<string, string> {
  const cookies: Array<[string, string]> = []
  for (const [name, value] of lines) {
    if (name.toLowerCase() !== 'cookie') continue
    for (const pair of value.split(';')) cookies.push([mask.text(pair.replace(/=.*/s, '').trim()), masked])
  }
  return Object.fromEntries(cookies)
}

function queryOf(url: string): Record<string, Json> {
  const start = url.indexOf('?')
  const query = new Map<string, Json>()
  for (const [name, value] of new URLSearchParams(start === -1 ? '' : url.slice(start + 1))) {
    const known = query.get(name)
    if (known === undefined) query.set(name, value)
    else if (Array.isArray(known)) known.push(value)
    else query.set(name, [known, value])
  }
  return Object.fromEntries(query)
}
