import type { DispatchPoint, Profile, RequestRecord, Span } from '../base/profile.ts'
import type { TimeKind } from '../base/summary.ts'
import { queryWaits } from './query-waits.ts'

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
