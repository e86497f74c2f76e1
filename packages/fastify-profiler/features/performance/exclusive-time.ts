import type { ViewContext } from '../../core/panel.ts'
import { groupBy } from '../../core/group-by.ts'
import { activeTimes, blocksIn, lengthOf, type Interval, runsOf, waitsOf } from '../../core/intervals.ts'
import type { DispatchPoint, EventLoopUse, Profile, RequestRecord, ResponseRecord, Span } from '../../core/profile.ts'
import type { TimeKind } from '../../core/summary.ts'
import { html, type Markup } from '../../core/view/html.ts'

/** A part of a request that was spent on one kind of work. */
export interface TimeSlice extends Interval {
  kind: TimeKind
  /** The id of the span that it counts for: of the operations that ran at once, the one that ended last. */
  span: number | null
  /** Whether code of this request blocked the event loop. */
  isBlocking: boolean
}

/** What took time: a request, or the start of an application. */
export interface Timed extends Pick<Profile, 'duration' | 'spans' | 'lifecycle' | 'token'> {
  eventLoop: Pick<EventLoopUse, 'blocked'>
  request: Pick<RequestRecord, 'bodySize'>
  /** Missing for the start of an application. */
  response?: Pick<ResponseRecord, 'contentType'>
  /** Missing for the start of an application. */
  database?: Profile['database']
}

const kinds: Partial<Record<string, TimeKind>> = {
  query: 'sql',
  http: 'http',
  cache: 'cache',
  wait: 'waiting',
  plugin: 'plugin',
  hook: 'hook',
  validation: 'hook',
  handler: 'handler',
  'not-found-handler': 'handler',
  'error-handler': 'handler',
}

/** Kinds of time in which nobody worked. They are shown after all others, in this order. */
const idle: readonly TimeKind[] = ['waiting', 'blocked', 'unaccounted']

export function timeKindOf({ kind }: Pick<Span, 'kind'>): TimeKind {
  return kinds[kind] ?? 'other'
}

/**
 * Divides a request into slices, so that each moment counts once: for the operations that ran, or else for the code of
 * others that blocked the event loop, for the wait of a query, for the function that started last, or for Fastify.
 */
export function sliceTime(profile: Timed): TimeSlice[] {
  const slices: TimeSlice[] = []
  const running = new RunningSpans()
  const gaps = gapsOf(profile)
  let last = 0
  const advance = (time: number) => {
    if (time <= last) return
    const { kind, span } = running.owner ?? { kind: kindOfGap(gaps, last), span: null }
    const { isBlocking } = running
    const before = slices.at(-1)
    if (before?.kind === kind && before.span === span && before.isBlocking === isBlocking) before.end = time
    else slices.push({ kind, span, isBlocking, start: last, end: time })
    last = time
  }
  for (const moment of momentsOf(profile, gaps)) {
    advance(moment.time)
    running.pass(moment)
  }
  advance(profile.duration)
  return slices
}

/** The milliseconds of each kind, longest first; what nobody worked on is last. */
export function timeByKind(slices: readonly TimeSlice[]): Array<[kind: TimeKind, time: number]> {
  const times = new Map<TimeKind, number>()
  for (const { kind, start, end } of slices) times.set(kind, (times.get(kind) ?? 0) + end - start)
  return [...times].sort(
    ([kind, time], [other, otherTime]) => idle.indexOf(kind) - idle.indexOf(other) || otherTime - time,
  )
}

/** What happens in a period. own-block: code of this request blocks the event loop. */
interface Happening {
  what: 'operation' | 'function' | 'wait' | 'block' | 'own-block'
  kind: TimeKind
  span: number | null
  /** When it ends. */
  until: number
  hasEnded: boolean
}

/** A moment at which something started or ended. */
interface Moment {
  time: number
  /** Null for what Fastify did. */
  of: Happening | null
  isStart: boolean
}

/** What Fastify did in a period, at the moments at which no span ran. */
interface Gap extends Interval {
  kind: TimeKind
}

function momentsOf({ duration, eventLoop: { blocked }, spans, token }: Timed, gaps: readonly Gap[]): Moment[] {
  const moments: Moment[] = []
  /** Adds the start and end of a period, cut to the request. One that takes no time has none. */
  const add = (what: Happening['what'], kind: TimeKind, span: number | null, start: number, end: number) => {
    const time = Math.max(0, start)
    const until = Math.min(duration, end)
    if (!(until > time)) return
    const of = { what, kind, span, until, hasEnded: false }
    moments.push({ time, of, isStart: true }, { time: until, of, isStart: false })
  }
  for (const [id, span] of spans.entries()) {
    const kind = timeKindOf(span)
    if (!isOperation(span)) add('function', kind, id, span.start, span.start + span.duration)
    else {
      for (const { start, end } of waitsOf(span, blocked)) add('wait', 'waiting', id, start, end)
      const runs = span.kind === 'wait' ? [] : runsOf(span, blocked)
      for (const { start, end } of runs) add('operation', kind, id, start, end)
    }
  }
  for (const { start, duration: took, by } of blocked) {
    add(by === token ? 'own-block' : 'block', 'blocked', null, start, start + took)
  }
  for (const { start, end } of gaps) {
    for (const time of [start, end]) if (time < duration) moments.push({ time, of: null, isStart: false })
  }
  return moments.sort((one, other) => one.time - other.time)
}

class RunningSpans {
  /** How many operations of each kind run; without kinds of which none does. */
  readonly #operations = new Map<TimeKind, number>()
  /** Of the operations that run, the one that ends last; so it is with the waits. */
  #operation: Happening | null = null
  #wait: Happening | null = null
  /** The functions that run, with some that have ended. The last one started last, and runs. */
  readonly #functions: Happening[] = []
  #blocks = 0
  #ownBlocks = 0

  pass({ of, isStart }: Moment): void {
    if (of === null) return
    const { kind, what } = of
    const change = isStart ? 1 : -1
    if (what === 'function') {
      if (isStart) this.#functions.push(of)
      else this.#endFunction(of)
    } else if (what === 'block') this.#blocks += change
    else if (what === 'own-block') this.#ownBlocks += change
    else if (what === 'wait') this.#wait = lastOf(this.#wait, of, isStart)
    else {
      const count = (this.#operations.get(kind) ?? 0) + change
      if (count === 0) this.#operations.delete(kind)
      else this.#operations.set(kind, count)
      this.#operation = lastOf(this.#operation, of, isStart)
    }
  }

  /** What this moment counts for; null if nothing runs. */
  get owner(): Pick<Happening, 'kind' | 'span'> | null {
    if (this.#operation !== null) {
      return this.#operations.size === 1 ? this.#operation : { kind: 'several', span: this.#operation.span }
    }
    if (this.#blocks > 0) return { kind: 'blocked', span: null }
    return this.#wait ?? this.#functions.at(-1) ?? null
  }

  get isBlocking(): boolean {
    return this.#ownBlocks > 0 && this.#operation === null
  }

  #endFunction(ended: Happening): void {
    ended.hasEnded = true
    while (this.#functions.at(-1)?.hasEnded === true) this.#functions.pop()
  }
}

/** Of what runs, what ends last. When it ends, all others have ended. */
function lastOf(last: Happening | null, one: Happening, isStart: boolean): Happening | null {
  if (!isStart) return one === last ? null : last
  return last === null || one.until > last.until ? one : last
}

/** What Fastify did that can be told apart. Of two at once, the first counts. */
function gapsOf({ lifecycle, request: { bodySize }, response, spans }: Timed): Gap[] {
  const gaps: Gap[] = []
  const point = (name: string) => lifecycle.find(point => point.name === name)
  const responded = endOf(point('kernel.response')) ?? Infinity
  const isJson = response?.contentType?.includes('json') === true
  const serialized = isJson ? serializationIn(spans, responded) : null
  if (serialized !== null) gaps.push({ kind: 'serialization', ...serialized })
  gaps.push({ kind: 'sending', start: responded, end: Infinity })
  const controller = point('kernel.controller')?.start ?? 0
  const reading = endOf(point('kernel.request')) ?? 0
  if ((bodySize ?? 0) > 0) gaps.push({ kind: 'reading', start: reading, end: controller })
  return gaps
}

function kindOfGap(gaps: readonly Gap[], time: number): TimeKind {
  return gaps.find(({ start, end }) => time >= start && time < end)?.kind ?? 'unaccounted'
}

/**
 * When Fastify made the text of a response: at once, after the last hook that got the value, or else after the function
 * that sent it, and before the first hook that got the text, or else the head.
 */
function serializationIn(spans: readonly Span[], head: number): Interval | null {
  const texts = spans.filter(({ hook }) => hook === 'onSend').map(({ start }) => start)
  const end = Math.min(head, ...texts)
  const before = spans.filter(({ start, duration }) => start + duration <= end)
  const values = before.filter(({ hook }) => hook === 'preSerialization')
  const last = values.length > 0 ? values : before.filter(({ outcome }) => outcome === 'replied')
  const start = Math.max(...last.map(({ start, duration }) => start + duration))
  return last.length > 0 && end < Infinity ? { start, end } : null
}

function endOf(point: DispatchPoint | undefined): number | null {
  return point?.start == null ? null : point.start + (point.duration ?? 0)
}

/** The spans that were recorded in each span, by its id; those of no span are under null. */
export function childrenOf(spans: readonly Span[]): Map<number | null, number[]> {
  return groupBy(spans.keys(), id => {
    const parent = spans[id]?.parent ?? null
    // A parent is recorded before its children; anything else would be a cycle.
    return parent !== null && parent < id ? parent : null
  })
}

export function spansAt(spans: readonly Span[], ids: readonly number[]): Span[] {
  return ids.map(id => spans[id]).filter(span => span !== undefined)
}

/** The same operation, called by the same function from the same line. */
interface RepeatedCall {
  /** Ids of the spans, in order. */
  ids: number[]
  first: Span
  times: number
  /** The time during which at least one of them ran. */
  time: number
}

const operations = new Set<string>(['query', 'http', 'cache', 'wait', 'other'])

/** Whether a span is an operation that a function waits for, and not a function of the application. */
export function isOperation({ kind }: Pick<Span, 'kind'>): boolean {
  return operations.has(kind)
}

/** Gathers the operations of a request, one entry for each that a line repeats. */
export function gatherCalls({ eventLoop, spans }: Pick<Timed, 'eventLoop' | 'spans'>): RepeatedCall[] {
  const operations = [...spans.entries()].filter(([, span]) => isOperation(span))
  const byPlace = groupBy(operations, ([, { detail, kind, location, name, parent }]) => {
    const place = location === null ? null : [location.file, location.line, location.column]
    return JSON.stringify([kind, parent, name, kind === 'http' ? null : detail, place])
  })
  return [...byPlace.values()].map(group => {
    const same = group.map(([, span]) => span)
    const runs = same.flatMap(span => activeTimes(span, eventLoop.blocked))
    return { ids: group.map(([id]) => id), first: group[0][1], times: timesOf(same), time: lengthOf(runs) }
  })
}

/** The number of operations that spans stand for. */
export function timesOf(spans: readonly Span[]): number {
  return spans.reduce((sum, { shared }) => sum + (shared?.count ?? 1), 0)
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
  /** Milliseconds of it in which it blocked the event loop, and those of each block. */
  blocking: number
  blocks: readonly number[]
}

/** What took a request's time, longest first. Together they are its duration. */
export function slowestCalls(profile: Pick<Timed, 'eventLoop' | 'spans'>, slices: readonly TimeSlice[]): SlowCall[] {
  const { eventLoop, spans } = profile
  const children = childrenOf(spans)
  const gathered = gatherCalls(profile).flatMap(call => call.ids.map(id => [id, call] as const))
  const callOf = new Map(gathered)
  const groups = groupBy(slices, ({ kind, span: id }) =>
    id === null || kind === 'waiting' ? kind : (callOf.get(id)?.ids[0] ?? id),
  )
  const calls = [...groups.values()].map((group): SlowCall => {
    const [{ kind, span: id }] = group
    const same = id === null ? undefined : callOf.get(id)
    const span = (kind === 'waiting' || id === null ? null : (same?.first ?? spans[id])) ?? null
    const blocks = blocksIn(
      group.filter(({ isBlocking }) => isBlocking),
      eventLoop.blocked,
    )
    return {
      kind: span === null ? kind : timeKindOf(span),
      span,
      times: same === undefined ? 1 : timesOf(spansAt(spans, same.ids).filter(({ charged }) => charged !== 0)),
      time: group.reduce((sum, { start, end }) => sum + end - start, 0),
      isPart: same === undefined && id !== null && children.has(id),
      blocking: blocks.reduce((sum, block) => sum + block, 0),
      blocks,
    }
  })
  return calls.sort((one, other) => other.time - one.time)
}

interface KindView {
  /** As in the legend. */
  label: string
  /** The class of its bars and squares. */
  colour: string
}

const views: Record<TimeKind, KindView> = {
  sql: { label: 'Queries', colour: 'sql' },
  http: { label: 'HTTP', colour: 'http' },
  cache: { label: 'Cache', colour: 'cache' },
  other: { label: 'Other', colour: 'io' },
  several: { label: 'Several at once', colour: 'several' },
  before: { label: 'Before Fastify', colour: 'io' },
  plugin: { label: 'Plugins', colour: 'handler' },
  hook: { label: 'Hooks', colour: 'hook' },
  handler: { label: 'Handler', colour: 'handler' },
  reading: { label: 'Reading', colour: 'io' },
  serialization: { label: 'Serialization', colour: 'io' },
  sending: { label: 'Sending', colour: 'io' },
  waiting: { label: 'Waiting', colour: 'wait' },
  blocked: { label: 'Event loop blocked', colour: 'blocked' },
  unaccounted: { label: 'Unaccounted', colour: 'unknown' },
}

export function kindView(kind: TimeKind): KindView {
  return views[kind]
}

export function renderKind(kind: TimeKind): Markup {
  return html`<i class="kind ${views[kind].colour}"></i>`
}

/** What took time, and how places are shown. */
export interface TimedContext extends Pick<ViewContext, 'root' | 'editorUrl'> {
  profile: Timed
}
