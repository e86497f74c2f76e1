import type { ProfileSummary } from '../summary.ts'

/** What happened lately, by route, statement and exception. Times are milliseconds. */
export interface Overview {
  requests: number
  /** Responses with a status of 500 or more. */
  failed: number
  /** Responses with a status from 400 to 499. */
  refused: number
  p95: number
  /** The newest request that ended the process; null if none did. */
  crash: ProfileSummary | null
  routes: RouteOverview[]
  statements: StatementOverview[]
  exceptions: ExceptionOverview[]
}

interface Durations {
  count: number
  p50: number
  p95: number
  worst: number
}

/** The requests of one route. */
export interface RouteOverview extends Durations {
  method: string
  /** Null for requests that no route matched. */
  route: string | null
  failed: number
  refused: number
  /** The median number of queries. */
  queries: number
  /** Requests that ran one statement in a loop, and how often the worst one did. */
  repeating: number
  repeated: number
  /** Whether that one changed rows. Missing if not. */
  repeatedWrites?: true
  /** The exception of the newest request that failed. */
  exception: string | null
  /** Requests that were answered although something failed, and the error of the newest. Missing if none was. */
  swallowing?: { queries: number; calls: number; errors: number; first: string }
  /** The request to look at: the newest that failed, or the one with most repetitions, or the slowest. */
  token: string
  slices: PeriodSlice[]
}

/** The requests of a twelfth of the period. */
export interface PeriodSlice {
  count: number
  p95: number
  failed: number
}

export interface StatementOverview extends Durations {
  sql: string
  /** The request that it took most time of. */
  token: string
}

export interface ExceptionOverview {
  exception: string
  count: number
  /** Whether some of them failed, instead of refusing a request. */
  fails: boolean
  last: number
  /** The newest request that had it. */
  token: string
  slices: PeriodSlice[]
}

const slicesPerPeriod = 12
const rowsKept = 8
const routesKept = 50

/** Summarises requests that are newer than a time, up to now. */
export function overviewOf(summaries: Iterable<ProfileSummary>, since: number, now: number): Overview {
  const lately = [...summaries].filter(({ time }) => time >= since && time <= now)
  const first = lately.reduce((earliest, { time }) => Math.min(earliest, time), now)
  const period = { start: Math.max(since, first), end: now }
  const routes = gather(lately, ({ method, route }) => (route === null ? 'no route' : `${method} ${route}`))
  const exceptions = gather(
    lately.filter(({ exception }) => exception !== null),
    ({ exception }) => (exception ?? '').replace(/\d+/g, '#'),
  )
  return {
    requests: lately.length,
    failed: lately.filter(isFailed).length,
    refused: lately.filter(isRefused).length,
    p95: durationsOf(lately.map(({ duration }) => duration)).p95,
    crash: lately.reduce<ProfileSummary | null>(
      (one, other) => ((other.crash ?? 0) > (one?.crash ?? 0) ? other : one),
      null,
    ),
    routes: [...routes.values()]
      .map(list => routeOf(list, period))
      .sort(byTrouble)
      .slice(0, routesKept),
    statements: statementsOf(lately),
    exceptions: [...exceptions.values()]
      .map(list => exceptionOf(list, period))
      .sort((one, other) => Number(other.fails) - Number(one.fails) || other.count - one.count)
      .slice(0, rowsKept),
  }
}

interface Interval {
  start: number
  end: number
}

/** At least one request. */
type Group = [ProfileSummary, ...ProfileSummary[]]

function gather(summaries: readonly ProfileSummary[], keyOf: (summary: ProfileSummary) => string): Map<string, Group> {
  const groups = new Map<string, Group>()
  for (const summary of summaries) {
    const key = keyOf(summary)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [summary])
    else group.push(summary)
  }
  return groups
}

function routeOf(group: Group, period: Interval): RouteOverview {
  const [{ method, route }] = group
  const failures = group.filter(isFailed)
  const newest = failures.reduce<ProfileSummary | null>(
    (one, other) => (other.time > (one?.time ?? 0) ? other : one),
    null,
  )
  const swallowing = group.filter(isSwallowing)
  const worst = most(group, ({ repeated }) => repeated)
  return {
    method: route === null ? '' : method,
    route,
    ...durationsOf(group.map(({ duration }) => duration)),
    failed: failures.length,
    refused: group.filter(isRefused).length,
    queries: durationsOf(group.map(({ queries }) => queries.count)).p50,
    repeating: group.filter(({ repeated }) => repeated > 0).length,
    repeated: worst.repeated,
    ...(worst.repeatedWrites && { repeatedWrites: worst.repeatedWrites }),
    exception: newest?.exception ?? null,
    ...(isGroup(swallowing) && { swallowing: swallowingOf(swallowing) }),
    token: (newest ?? (isGroup(swallowing) ? most(swallowing, ({ time }) => time) : worstOf(group))).token,
    slices: slicesOf(group, period),
  }
}

function isGroup(summaries: ProfileSummary[]): summaries is Group {
  return summaries.length > 0
}

function worstOf(group: Group): ProfileSummary {
  return most(group, ({ repeated, duration }) => repeated * 1e9 + duration)
}

/** Whether a request was answered although something in it failed. */
function isSwallowing({ failures, status }: ProfileSummary): boolean {
  return failures !== undefined && status !== null && status < 400
}

function swallowingOf(group: Group): RouteOverview['swallowing'] & {} {
  const withSome = (what: 'queries' | 'calls' | 'errors') =>
    group.filter(({ failures }) => (failures?.[what] ?? 0) > 0).length
  const first = most(group, ({ time }) => time).failures?.first ?? ''
  return { queries: withSome('queries'), calls: withSome('calls'), errors: withSome('errors'), first }
}

function exceptionOf(group: Group, period: Interval): ExceptionOverview {
  const newest = most(group, ({ time }) => time)
  return {
    exception: newest.exception ?? '',
    count: group.length,
    fails: group.some(summary => isFailed(summary) || (summary.failures?.errors ?? 0) > 0),
    last: newest.time,
    token: newest.token,
    slices: slicesOf(group, period),
  }
}

/** The first with the greatest value. */
function most(group: Group, valueOf: (summary: ProfileSummary) => number): ProfileSummary {
  return group.reduce((one, other) => (valueOf(other) > valueOf(one) ? other : one))
}

/** Most time first. */
function statementsOf(summaries: readonly ProfileSummary[]): StatementOverview[] {
  const bySql = new Map<string, { count: number; total: number; each: number[]; token: string; worst: number }>()
  for (const { statements, token } of summaries) {
    for (const { sql, count, duration } of statements) {
      const known = bySql.get(sql) ?? { count: 0, total: 0, each: [], token, worst: duration }
      known.count += count
      known.total += duration
      known.each.push(duration / count)
      if (duration > known.worst) Object.assign(known, { token, worst: duration })
      bySql.set(sql, known)
    }
  }
  return [...bySql]
    .sort(([, one], [, other]) => other.total - one.total)
    .slice(0, rowsKept)
    .map(([sql, { count, each, token }]) => ({ sql, ...durationsOf(each), count, token }))
}

function slicesOf(summaries: readonly ProfileSummary[], { start, end }: Interval): PeriodSlice[] {
  const width = (end - start) / slicesPerPeriod
  const slices = Array.from({ length: slicesPerPeriod }, (): ProfileSummary[] => [])
  for (const summary of summaries) {
    const place = width > 0 ? Math.floor((summary.time - start) / width) : 0
    slices[Math.min(place, slicesPerPeriod - 1)]?.push(summary)
  }
  return slices.map(list => {
    const { count, p95 } = durationsOf(list.map(({ duration }) => duration))
    return { count, p95, failed: list.filter(isFailed).length }
  })
}

/** The quantile of sorted values by nearest rank; 0 without values. */
export function quantile(sorted: ArrayLike<number>, part: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0
}

function durationsOf(list: readonly number[]): Durations {
  const sorted = Float64Array.from(list).sort()
  const at = (part: number) => quantile(sorted, part)
  return { count: sorted.length, p50: at(0.5), p95: at(0.95), worst: at(1) }
}

function byTrouble(one: RouteOverview, other: RouteOverview): number {
  const swallowed = Number(other.swallowing !== undefined) - Number(one.swallowing !== undefined)
  return other.failed - one.failed || swallowed || other.p50 * other.count - one.p50 * one.count
}

function isFailed({ status }: ProfileSummary): boolean {
  return status !== null && status >= 500
}

function isRefused({ status }: ProfileSummary): boolean {
  return status !== null && status >= 400 && status < 500
}
