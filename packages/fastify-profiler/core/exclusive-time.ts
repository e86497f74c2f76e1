import type { ViewContext } from './panel.ts'
import type { DispatchPoint, Profile, Query, RequestRecord, Span } from './profile.ts'
import type { TimeKind } from './summary.ts'
import { html, type Markup } from './view/html.ts'

/** Shorter waits are not worth telling apart from their queries. */
const shortest = 0.05

/** A wait of a query for a connection. */
interface QueryWait {
  start: number
  end: number
}

/**
 * The times in which queries waited for a connection: at the beginning of a query that a builder began, or before one
 * that a driver began.
 */
function queryWaits({ database, spans }: Pick<Profile, 'database' | 'spans'>): QueryWait[] {
  const queries = (database?.queries ?? []).filter(({ waited }) => waited >= shortest)
  const ofQueries = spans.filter(({ kind }) => kind === 'query')
  return queries.map(query => {
    const { start, waited } = query
    const isWithin = ofQueries.some(span => contains(span, query))
    return isWithin ? { start, end: start + waited } : { start: start - waited, end: start }
  })
}

/** Whether a span is that of a query together with its wait. */
function contains(span: Span, { start, duration, waited }: Query): boolean {
  const tolerance = shortest / 2
  return Math.abs(span.start - start) <= tolerance && span.duration >= waited + (duration ?? 0) - tolerance
}

/** A part of a request that was spent on one kind of work. */
export interface TimeSlice {
  kind: TimeKind
  start: number
  end: number
}

/** What took time: a request, or the start of an application. */
export interface Timed extends Pick<Profile, 'duration' | 'spans' | 'lifecycle' | 'database'> {
  request: Pick<RequestRecord, 'bodySize'>
}

const kinds: Partial<Record<string, TimeKind>> = {
  query: 'sql',
  http: 'http',
  cache: 'cache',
  plugin: 'plugin',
  hook: 'hook',
  validation: 'hook',
  handler: 'handler',
  'not-found-handler': 'handler',
  'error-handler': 'handler',
}

/** Time that nobody worked, in the order in which it is shown last. */
const idle: readonly TimeKind[] = ['waiting', 'unaccounted']

/** The kind of time that a span stands for. */
export function timeKindOf({ kind }: Pick<Span, 'kind'>): TimeKind {
  return kinds[kind] ?? 'other'
}

/**
 * Divides a request into slices, so that each moment counts once: for the operations that ran, or else for the function
 * that started last, or else for Fastify's own work.
 */
export function sliceTime(profile: Timed): TimeSlice[] {
  const { duration } = profile
  const slices: TimeSlice[] = []
  const running = new RunningSpans()
  const gaps = new Gaps(profile)
  let last = 0
  const advance = (time: number) => {
    if (time <= last) return
    const kind = running.kind ?? gaps.kindAt(last)
    const before = slices.at(-1)
    if (before?.kind === kind) before.end = time
    else slices.push({ kind, start: last, end: time })
    last = time
  }
  for (const moment of momentsOf(profile)) {
    advance(moment.time)
    running.pass(moment)
  }
  advance(duration)
  return slices
}

/** The milliseconds of each kind, longest first; what nobody worked on is last. */
export function timeByKind(slices: readonly TimeSlice[]): Array<[kind: TimeKind, time: number]> {
  const times = new Map<TimeKind, number>()
  for (const { kind, start, end } of slices) times.set(kind, (times.get(kind) ?? 0) + end - start)
  return [...times].sort(([kind, time], [other, otherTime]) => rankOf(kind) - rankOf(other) || otherTime - time)
}

function rankOf(kind: TimeKind): number {
  return idle.indexOf(kind)
}

/** A moment at which a span or a wait started or ended, or a dispatch point was reached. */
interface Moment {
  time: number
  /** Null for a dispatch point. */
  kind: TimeKind | null
  /** The start that this moment ends; null for a start. */
  began: Moment | null
  hasEnded: boolean
}

/** All moments of a request, in order. */
function momentsOf({ database, duration, lifecycle, spans }: Timed): Moment[] {
  const moments: Moment[] = []
  for (const span of spans) addPeriod(moments, timeKindOf(span), span.start, span.start + span.duration, duration)
  for (const { start, end } of queryWaits({ database, spans })) addPeriod(moments, 'waiting', start, end, duration)
  // Dispatch points tell what Fastify did between the spans.
  for (const { start, duration: took } of lifecycle) {
    if (start === null) continue
    for (const time of [start, start + (took ?? 0)]) {
      if (time < duration) moments.push({ time, kind: null, began: null, hasEnded: false })
    }
  }
  return moments.sort((one, other) => one.time - other.time)
}

/** Adds the start and end of a period, cut to the request. One that takes no time has none. */
function addPeriod(moments: Moment[], kind: TimeKind, from: number, to: number, duration: number): void {
  const start = Math.max(0, from)
  const end = Math.min(duration, to)
  if (!(end > start)) return
  const began: Moment = { time: start, kind, began: null, hasEnded: false }
  moments.push(began, { time: end, kind, began, hasEnded: false })
}

/** The spans that run at a moment. */
class RunningSpans {
  /** How many operations of each kind run. */
  readonly #operations = new Map<TimeKind, number>()
  /** The starts of functions that run, with some that have ended. The last one started last, and runs. */
  readonly #functions: Moment[] = []
  /** How many queries wait for a connection. */
  #waits = 0

  /** Starts or ends what starts or ends at a moment. */
  pass(moment: Moment): void {
    const { kind, began } = moment
    if (kind === null) return
    if (kind === 'waiting') this.#waits += began === null ? 1 : -1
    else if (!isFunction(kind)) this.#count(kind, began === null ? 1 : -1)
    else if (began === null) this.#functions.push(moment)
    else this.#endFunction(began)
  }

  /** The kind that this moment counts for; null if nothing runs. Waiting counts only if nothing else ran. */
  get kind(): TimeKind | null {
    let working: TimeKind | null = null
    for (const [kind, count] of this.#operations) {
      if (count === 0 || (kind === 'sql' && count <= this.#waits)) continue
      if (working !== null) return 'several'
      working = kind
    }
    return working ?? (this.#waits > 0 ? 'waiting' : (this.#functions.at(-1)?.kind ?? null))
  }

  #count(kind: TimeKind, change: 1 | -1): void {
    this.#operations.set(kind, (this.#operations.get(kind) ?? 0) + change)
  }

  #endFunction(began: Moment): void {
    began.hasEnded = true
    while (this.#functions.at(-1)?.hasEnded === true) this.#functions.pop()
  }
}

/** What Fastify did while no span ran. */
class Gaps {
  readonly #controller: number
  /** When the body began to be read; Infinity for a request without one. */
  readonly #reading: number
  readonly #responded: number

  constructor({ lifecycle, request: { bodySize } }: Pick<Timed, 'lifecycle' | 'request'>) {
    const point = (name: string) => lifecycle.find(point => point.name === name)
    this.#controller = point('kernel.controller')?.start ?? 0
    this.#reading = (bodySize ?? 0) > 0 ? (endOf(point('kernel.request')) ?? 0) : Infinity
    this.#responded = endOf(point('kernel.response')) ?? Infinity
  }

  kindAt(time: number): TimeKind {
    if (time >= this.#responded) return 'sending'
    return time >= this.#reading && time < this.#controller ? 'reading' : 'unaccounted'
  }
}

function endOf(point: DispatchPoint | undefined): number | null {
  return point?.start == null ? null : point.start + (point.duration ?? 0)
}

function isFunction(kind: TimeKind): boolean {
  return kind === 'plugin' || kind === 'hook' || kind === 'handler'
}

/** The time during which at least one of the spans ran. */
export function coveredTime(spans: ReadonlyArray<Pick<Span, 'start' | 'duration'>>): number {
  let total = 0
  let end = -Infinity
  for (const span of [...spans].sort((one, other) => one.start - other.start)) {
    const from = Math.max(span.start, end)
    const until = span.start + span.duration
    if (until > from) total += until - from
    end = Math.max(end, until)
  }
  return total
}

/** The spans that were recorded in each span, by its id; those of no span are under null. */
export function childrenOf(spans: readonly Span[]): Map<number | null, number[]> {
  const children = new Map<number | null, number[]>()
  spans.forEach(({ parent }, id) => {
    // A parent is recorded before its children; anything else would be a cycle.
    const above = parent !== null && parent < id ? parent : null
    const siblings = children.get(above)
    if (siblings === undefined) children.set(above, [id])
    else siblings.push(id)
  })
  return children
}

/** The spans with these ids. */
export function spansAt(spans: readonly Span[], ids: readonly number[]): Span[] {
  return ids.map(id => spans[id]).filter(span => span !== undefined)
}

/** The time of a span without that of the spans in it, which may go on after it. */
export function ownTime({ start, duration }: Span, within: readonly Span[]): number {
  const end = start + duration
  const during = within.map(span => ({
    start: span.start,
    duration: Math.min(span.start + span.duration, end) - span.start,
  }))
  return Math.max(0, duration - coveredTime(during.filter(({ duration }) => duration > 0)))
}

/** The same operation, called by the same function from the same line. */
interface RepeatedCall {
  /** Ids of the spans, in order. */
  ids: number[]
  first: Span
  /** The time during which at least one of them ran. */
  time: number
}

const operations = new Set<string>(['query', 'http', 'cache', 'other'])

/** Whether a span is an operation that a function waits for, and not a function of the application. */
export function isOperation({ kind }: Pick<Span, 'kind'>): boolean {
  return operations.has(kind)
}

/** Gathers the operations of a request, one entry for each that a line repeats. */
export function gatherCalls(spans: readonly Span[]): RepeatedCall[] {
  const byPlace = new Map<string, { ids: number[]; first: Span; spans: Span[] }>()
  spans.forEach((span, id) => {
    if (!isOperation(span)) return
    const { location } = span
    const place = location === null ? null : [location.file, location.line, location.column]
    const key = JSON.stringify([span.kind, span.parent, span.name, span.detail, place])
    const known = byPlace.get(key)
    if (known === undefined) byPlace.set(key, { ids: [id], first: span, spans: [span] })
    else {
      known.ids.push(id)
      known.spans.push(span)
    }
  })
  return [...byPlace.values()].map(({ ids, first, spans }) => ({ ids, first, time: coveredTime(spans) }))
}

/** Something that took time: an operation with its repetitions, a function's own code, or a gap. */
export interface SlowCall {
  kind: TimeKind
  /** Null for a gap. */
  span: Span | null
  /** How often the operation ran. */
  times: number
  /** Milliseconds, without those of the calls in it. */
  time: number
  /** Whether the function called others, so that this is only a part of it. */
  isPart: boolean
}

const gapKinds = new Set<TimeKind>(['reading', 'sending', 'waiting', 'unaccounted'])

/** What took a request's time, longest first. */
export function slowestCalls({ spans }: Pick<Profile, 'spans'>, slices: readonly TimeSlice[]): SlowCall[] {
  const children = childrenOf(spans)
  const functions = spans.flatMap((span, id): SlowCall[] => {
    if (isOperation(span)) return []
    const within = spansAt(spans, children.get(id) ?? [])
    return [{ kind: timeKindOf(span), span, times: 1, time: ownTime(span, within), isPart: within.length > 0 }]
  })
  const operations = gatherCalls(spans).map(({ first, ids, time }): SlowCall => ({
    kind: timeKindOf(first),
    span: first,
    times: ids.length,
    time,
    isPart: false,
  }))
  const gaps = timeByKind(slices)
    .filter(([kind]) => gapKinds.has(kind))
    .map(([kind, time]): SlowCall => ({ kind, span: null, times: 1, time, isPart: false }))
  return [...functions, ...operations, ...gaps].sort((one, other) => other.time - one.time)
}

interface KindView {
  /** As in the legend. */
  label: string
  /** The class of its bars and squares. */
  colour: string
}

const views: Record<TimeKind, KindView> = {
  sql: { label: 'SQL', colour: 'sql' },
  http: { label: 'HTTP', colour: 'http' },
  cache: { label: 'Cache', colour: 'cache' },
  other: { label: 'Other', colour: 'io' },
  several: { label: 'Several at once', colour: 'several' },
  plugin: { label: 'Plugins', colour: 'handler' },
  hook: { label: 'Hooks', colour: 'hook' },
  handler: { label: 'Handler', colour: 'handler' },
  reading: { label: 'Reading', colour: 'io' },
  sending: { label: 'Sending', colour: 'io' },
  waiting: { label: 'Waiting', colour: 'wait' },
  unaccounted: { label: 'Unaccounted', colour: 'unknown' },
}

/** How a kind of time is shown. */
export function kindView(kind: TimeKind): KindView {
  return views[kind]
}

/** The square that stands for a kind of time. */
export function renderKind(kind: TimeKind): Markup {
  return html`<i class="kind ${views[kind].colour}"></i>`
}

/** What took time, and how places are shown. */
export interface TimedContext extends Pick<ViewContext, 'root' | 'editorUrl'> {
  profile: Timed
}
