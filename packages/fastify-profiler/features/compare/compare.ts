import { groupBy } from '../../core/group-by.ts'
import { type Interval, joined, lengthOf, runsOf, without } from '../../core/intervals.ts'
import type { Location, LogLine, Profile, Span } from '../../core/profile.ts'
import type { TimeKind } from '../../core/summary.ts'
import {
  childrenOf,
  isOperation,
  sliceTime,
  spansAt,
  timeByKind,
  timeKindOf,
  type TimeSlice,
} from '../performance/exclusive-time.ts'
import {
  type ComparedRequest,
  compareValues,
  type Comparison,
  differenceOf,
  judge,
  type LogPair,
  markChanges,
  type Others,
  type Pair,
  pairTimes,
  type SpanPair,
  type SpanTimes,
  type StatementPair,
} from './comparison.ts'
import { isSameRoute } from './comparison-text.ts'
import { statementShape } from '../../core/statement-shape.ts'

/** Two items that belong together, or one without a counterpart. */
interface Match<Item> extends Pair<Item> {
  /** B's, or A's if there is no other. */
  either: Item
}

/** Keys to match by, the strictest first. Null: cannot be matched by this one. */
type Keys<Item> = ReadonlyArray<(item: Item) => readonly unknown[] | null>

/**
 * Pairs the items of two requests that have an equal key. Those left over are matched by the next key, since a line
 * moves when code above it changes.
 */
function match<Item>(a: readonly Item[], b: readonly Item[], keys: Keys<Item>): Array<Match<Item>> {
  const pairs: Array<Match<Item>> = []
  let leftA = [...a]
  let leftB = [...b]
  for (const keyOf of keys) {
    const waiting = groupBy(leftA, item => JSON.stringify(keyOf(item)))
    const matched = new Set<Item>()
    for (const item of leftB) {
      const key = keyOf(item)
      const partner = key === null ? undefined : waiting.get(JSON.stringify(key))?.shift()
      if (partner === undefined) continue
      pairs.push({ a: partner, b: item, either: item })
      matched.add(partner).add(item)
    }
    leftA = leftA.filter(item => !matched.has(item))
    leftB = leftB.filter(item => !matched.has(item))
  }
  return [
    ...pairs,
    ...leftA.map(item => ({ a: item, b: null, either: item })),
    ...leftB.map(item => ({ a: null, b: item, either: item })),
  ]
}

function placeOf(location: Location | null): readonly [file: string | undefined, line: number | undefined] {
  return [location?.file, location?.line]
}

interface SpanGroup {
  kind: TimeKind
  name: string
  location: Location | null
  isPart: boolean
  times: SpanTimes
}

/** Kinds of time in which no recorded function or operation ran. */
const gaps = new Set<TimeKind>(['reading', 'serialization', 'sending', 'waiting', 'blocked', 'unaccounted'])

/** Gathers the spans of a request by kind, name and line, and its gaps by kind. */
function groupSpans({ eventLoop: { blocked }, spans }: Profile, slices: readonly TimeSlice[]): SpanGroup[] {
  const children = childrenOf(spans)
  const groups = new Map<string, Omit<SpanGroup, 'times'> & { count: number; own: Interval[] }>()
  spans.forEach((span, id) => {
    const { kind, location, name } = span
    const key = JSON.stringify([kind, name, location?.file, location?.line])
    const within = isOperation(span) ? [] : spansAt(spans, children.get(id) ?? [])
    const group = groups.get(key) ?? { kind: timeKindOf(span), name, location, isPart: false, count: 0, own: [] }
    groups.set(key, group)
    group.count += span.shared?.count ?? 1
    group.isPart ||= within.length > 0
    if (isOperation(span)) group.own.push(...runsOf(span, blocked))
    else group.own.push(...without(periodOf(span), within.map(periodOf)))
  })
  return [
    ...[...groups.values()].map(({ count, own, ...group }) => ({ ...group, times: timesOf(count, own) })),
    ...[...gaps].flatMap((kind): SpanGroup[] => {
      const pieces = slices.filter(slice => slice.kind === kind).map(({ start, end }) => ({ start, end }))
      return pieces.length === 0 ? [] : [{ kind, name: kind, location: null, isPart: false, times: timesOf(1, pieces) }]
    }),
  ]
}

function timesOf(count: number, periods: readonly Interval[]): SpanTimes {
  return { count, time: lengthOf(periods), pieces: joined(periods) }
}

function periodOf({ start, duration }: Span): Interval {
  return { start, end: start + duration }
}

const noOthers: Others = { a: [], b: [] }

/** Compares two requests. @param others requests like them, which tell how much their times vary by chance */
export function compare(a: Profile, b: Profile, others: Others = noOthers): Comparison {
  const slicesA = sliceTime(a)
  const slicesB = sliceTime(b)
  const spans = compareSpans(groupSpans(a, slicesA), groupSpans(b, slicesB))
  const requests = { a: describe(a), b: describe(b) }
  const verdict = judge(requests.a, requests.b, spans, others)
  return {
    ...requests,
    verdict,
    times: pairTimes(timeByKind(slicesA), timeByKind(slicesB)),
    spans: markChanges(spans, verdict).sort(byChange),
    statements: compareStatements(a, b),
    exceptions: compareExceptions(a, b),
    logs: compareLogs(a.logs, b.logs),
    ...compareValues(a, b),
    notes: [...routesNote(requests), ...notesOf('A', a), ...notesOf('B', b)],
  }
}

function routesNote({ a, b }: Pick<Comparison, 'a' | 'b'>): string[] {
  const name = ({ method, route, url }: ComparedRequest) => `${method} ${route ?? url.slice(0, 200)}`
  if (!isSameRoute(a, b)) return [`A and B are different routes: ${name(a)} and ${name(b)}.`]
  return a.url === b.url ? [] : [`A and B have different URLs: ${a.url.slice(0, 200)} and ${b.url.slice(0, 200)}.`]
}

function describe(profile: Profile): ComparedRequest {
  const { token, method, url, status, time, duration, database, response, routing } = profile
  const { count, duration: queryTime } = database ?? { count: 0, duration: 0 }
  return {
    token,
    method,
    url,
    route: routing.matched?.url ?? null,
    status,
    time,
    duration,
    queries: { count, duration: queryTime },
    size: response.bodySize,
  }
}

function compareSpans(a: readonly SpanGroup[], b: readonly SpanGroup[]): SpanPair[] {
  const pairs = match(a, b, [
    ({ kind, name, location }) => [kind, name, ...placeOf(location)],
    ({ kind, name, location }) => [kind, name, location?.file],
    ({ kind, location }) => (location === null ? null : [kind, ...placeOf(location)]),
  ])
  return pairs.map(({ a, b, either: { kind, location, name } }) => ({
    kind,
    name,
    isPart: a?.isPart === true || b?.isPart === true,
    location,
    a: a?.times ?? null,
    b: b?.times ?? null,
    change: gaps.has(kind) || a?.times.count === b?.times.count ? null : 'calls',
  }))
}

/** What ran more or less often comes first, then what changed, then the rest; each by its difference. */
function byChange(one: SpanPair, other: SpanPair): number {
  return (
    Number(other.change !== null) - Number(one.change !== null) ||
    Math.abs(differenceOf(other)) - Math.abs(differenceOf(one))
  )
}

interface Statement {
  shape: string
  location: Location | null
  sums: NonNullable<StatementPair['a']>
}

function compareStatements(a: Profile, b: Profile): StatementPair[] {
  const pairs = match(statementsOf(a), statementsOf(b), [
    ({ shape, location }) => [shape, ...placeOf(location)],
    ({ shape, location }) => [shape, location?.file],
    ({ shape }) => [shape],
  ])
  return pairs
    .map(({ a, b, either: { location, shape } }) => ({ shape, location, a: a?.sums ?? null, b: b?.sums ?? null }))
    .sort((one, other) => Math.abs(differenceOf(other)) - Math.abs(differenceOf(one)))
}

function statementsOf({ eventLoop: { blocked }, spans }: Profile): Statement[] {
  const statements = new Map<string, Statement>()
  for (const span of spans) {
    const { kind, name, detail, location } = span
    if (kind !== 'query') continue
    const shape = statementShape(detail ?? name)
    const key = JSON.stringify([shape, ...placeOf(location)])
    const statement = statements.get(key) ?? { shape, location, sums: { count: 0, time: 0 } }
    statement.sums.count += span.shared?.count ?? 1
    statement.sums.time += lengthOf(runsOf(span, blocked))
    statements.set(key, statement)
  }
  return [...statements.values()]
}

/** Exceptions whose class and message, apart from numbers, only one of two requests has. */
function compareExceptions(a: Profile, b: Profile): Array<Pair<string>> {
  const textsOf = ({ exceptions }: Profile) =>
    exceptions.map(({ class: name, message }) => ({ text: `${name}: ${message}` }))
  return match(textsOf(a), textsOf(b), [({ text }) => [withoutNumbers(text)]])
    .filter(({ a, b }) => a === null || b === null)
    .map(({ a, b }) => ({ a: a?.text ?? null, b: b?.text ?? null }))
}

function compareLogs(a: readonly LogLine[], b: readonly LogLine[]): LogPair[] {
  const lines = new Map<string, LogPair>()
  for (const [side, list] of [['a', a] as const, ['b', b] as const]) {
    for (const { level, message } of list) {
      const key = `${level} ${withoutNumbers(message)}`
      const pair = lines.get(key) ?? { level, message, a: 0, b: 0 }
      pair[side]++
      lines.set(key, pair)
    }
  }
  return [...lines.values()].filter(({ a, b }) => a !== b).sort((one, other) => other.level - one.level)
}

function withoutNumbers(text: string): string {
  return text.replace(/\d+/g, '#')
}

function notesOf(side: 'A' | 'B', { dropped }: Profile): string[] {
  return dropped.map(({ what, count }) => `The profile of ${side} is incomplete. Left out: ${what} (${count}).`)
}
