import { groupBy } from '../../core/group-by.ts'
import type { ListedStatement, ProfileSummary, TimeKind, Trouble } from '../../core/summary.ts'
import { statusTone } from '../../core/view/elements.ts'

/** What happened lately, by route, statement and exception. Times are milliseconds. */
export interface Overview {
  requests: number
  /** Responses with a status of 500 or more. */
  failed: number
  /** Responses with a status from 400 to 499. */
  refused: number
  p95: number
  routes: RouteOverview[]
  statements: StatementOverview[]
  exceptions: ExceptionOverview[]
  /** How many more there are of each. */
  left: { routes: number; statements: number; exceptions: number }
}

interface Durations {
  count: number
  p50: number
  p95: number
  worst: number
}

export interface RouteOverview extends Durations {
  method: string
  /** Null for requests that no route matched. */
  route: string | null
  failed: number
  refused: number
  /** Those of the request that sent most. */
  queries: number
  /** Why requests failed, the most frequent first. Those of one class and line are one. */
  reasons: Reason[]
  /** The worst first. */
  troubles: RouteTrouble[]
  /** The requests in which troubles were looked for. */
  examined: number
  /** The request to look at: the newest that failed, or that has the worst trouble, or the slowest. */
  token: string
  /** Null if it did not get slower. */
  slower: Slower | null
}

/** Since when the requests of a route take longer, and the kind that grew most. Times are medians. */
interface Slower {
  since: number
  before: number
  after: number
  kind: { name: TimeKind; before: number; after: number } | null
}

/** A trouble as the newest request with it tells. */
export interface RouteTrouble extends Trouble {
  token: string
  /** How many requests have it. */
  count: number
}

/** Why some requests of a route failed, as the newest of them tells. */
interface Reason extends Pick<Trouble, 'detail' | 'location'> {
  token: string
  count: number
}

/** The quantiles are those of its time in each request, and the worst is its slowest query. */
export interface StatementOverview extends Durations {
  sql: string
  /** Characters of the whole statement. Missing if it is not shortened. */
  length?: number
  /** The request that it took most time of. */
  token: string
}

/** Those of one class and line, or without a line those whose messages differ in numbers only. */
export interface ExceptionOverview extends Pick<ProfileSummary, 'thrownAt'> {
  /** As the newest request tells, of those that failed if some did. */
  exception: string
  /** How many messages differ in more than numbers and ids. */
  messages: number
  count: number
  /** Whether some of them failed, instead of refusing a request. */
  fails: boolean
  last: number
  /** The request that the message is of. */
  token: string
}

const rowsKept = 200
const reasonsKept = 5

/** Summarises requests that are newer than a time, up to now. */
export function overviewOf(summaries: Iterable<ProfileSummary>, since: number, now = Date.now()): Overview {
  const lately = [...summaries].filter(({ time }) => time >= since && time <= now)
  const routes = groupBy(lately, ({ method, route }) => (route === null ? 'no route' : `${method} ${route}`))
  const exceptions = groupBy(
    lately.filter(({ exception }) => exception !== null),
    kindOf,
  )
  const statements = statementsOf(lately)
  return {
    requests: lately.length,
    failed: lately.filter(isFailed).length,
    refused: lately.filter(isRefused).length,
    p95: durationsOf(lately.map(({ duration }) => duration)).p95,
    routes: [...routes.values()].map(routeOf).sort(byTrouble).slice(0, rowsKept),
    statements: statements.slice(0, rowsKept),
    exceptions: [...exceptions.values()]
      .map(exceptionOf)
      .sort((one, other) => Number(other.fails) - Number(one.fails) || other.count - one.count)
      .slice(0, rowsKept),
    left: {
      routes: Math.max(0, routes.size - rowsKept),
      statements: Math.max(0, statements.length - rowsKept),
      exceptions: Math.max(0, exceptions.size - rowsKept),
    },
  }
}

/** At least one request. */
type Group = [ProfileSummary, ...ProfileSummary[]]

function routeOf(group: Group): RouteOverview {
  const [{ method, route }] = group
  const failures = group.filter(isFailed).sort((one, other) => other.time - one.time)
  const examined = group.filter(({ isUnexamined = false }) => !isUnexamined)
  const troubles = troublesOf(examined)
  return {
    method: route === null ? '' : method,
    route,
    ...durationsOf(group.map(({ duration }) => duration)),
    failed: failures.length,
    refused: group.filter(isRefused).length,
    queries: durationsOf(group.map(({ queries }) => queries.count)).worst,
    reasons: reasonsOf(failures),
    troubles,
    examined: examined.length,
    token: (failures[0] ?? troubles[0] ?? most(group, ({ duration }) => duration)).token,
    slower: slowerOf(group),
  }
}

/** @param failures the newest first */
function reasonsOf(failures: readonly ProfileSummary[]): Reason[] {
  const told = ({ troubles = [] }: ProfileSummary) => troubles.find(({ what }) => what === 'fails')
  return [...groupBy(failures, kindOf).values()]
    .sort((one, other) => other.length - one.length)
    .slice(0, reasonsKept)
    .map(group => {
      const example = group.find(told) ?? group[0]
      const { detail, location } = told(example) ?? { detail: '', location: null }
      const text = detail === '' ? (example.exception ?? 'No exception was seen.') : detail
      return { detail: text, location, token: example.token, count: group.length }
    })
}

/** The same for exceptions of one class and line, or without a line for those whose messages differ in numbers only. */
function kindOf({ exception, thrownAt }: ProfileSummary): string {
  const text = `${exception}`
  return thrownAt === undefined ? text.replace(/\d+/g, '#') : `${text.replace(/:.*/s, '')} ${thrownAt}`
}

/** A route got slower if its median grew by this factor and this many milliseconds, with so many requests each side. */
const slowerBy = 1.5
const slowerFrom = 10
const slowerCount = 10

/** Finds the moment since which three of four requests take longer than three of four did before. */
function slowerOf(group: Group): Slower | null {
  if (group.length < 2 * slowerCount) return null
  const list = group.toSorted((one, other) => one.time - other.time)
  const sizes = list.map(({ duration }) => Math.log(duration + 1))
  const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length
  let [sum, lowest, border] = [0, 0, 0]
  // Quicker ones than the mean lower the sum, and slower ones raise it.
  for (const [index, size] of sizes.entries()) {
    sum += size - mean
    if (sum < lowest) [lowest, border] = [sum, index + 1]
  }
  const [early, late] = [list.slice(0, border), list.slice(border)]
  const [first] = late
  if (first === undefined || Math.min(early.length, late.length) < slowerCount) return null
  const [old, now] = [early, late].map(part => Float64Array.from(part, ({ duration }) => duration).sort())
  if (old === undefined || now === undefined) return null
  const [before, after] = [quantile(old, 0.5), quantile(now, 0.5)]
  const isSlower = after >= before * slowerBy && after - before >= slowerFrom
  if (!isSlower || quantile(now, 0.25) <= quantile(old, 0.75)) return null
  return { since: first.time, before, after, kind: grownKind(early, late, (after - before) / 2) }
}

/** The kind of time that grew most, by at least so many milliseconds. */
function grownKind(early: readonly ProfileSummary[], late: readonly ProfileSummary[], by: number): Slower['kind'] {
  const names = new Set(late.flatMap(({ times }) => times.map(([name]) => name)))
  const medianOf = (list: readonly ProfileSummary[], name: TimeKind) =>
    durationsOf(list.map(({ times }) => times.find(([kind]) => kind === name)?.[1] ?? 0)).p50
  const kinds = [...names].map(name => ({ name, before: medianOf(early, name), after: medianOf(late, name) }))
  const grown = kinds.filter(({ before, after }) => after - before >= by)
  return grown.sort((one, other) => other.after - other.before - (one.after - one.before))[0] ?? null
}

/** Of one request, a trouble that only its time makes one has to take this many milliseconds. */
const timedFrom = 100

/** So many requests for a URL tell that it is always so. */
const eachFrom = 3

/** The troubles by kind and line. Those of times are some only if half of the requests have them. */
function troublesOf(group: readonly ProfileSummary[]): RouteTrouble[] {
  const found = new Map<string, RouteTrouble>()
  for (const { token, troubles = [] } of group.toSorted((one, other) => other.time - one.time)) {
    const own = troubles.map(trouble => [keyOf(trouble), trouble] as const)
    for (const [key, trouble] of new Map(own)) {
      const known = found.get(key)
      if (known === undefined) found.set(key, { ...trouble, token, count: 1 })
      else known.count++
    }
  }
  return [...found.values()]
    .filter(trouble => {
      const { count, isEach, time, token } = trouble
      if (isEach) return isOfEach(trouble, group, group.find(summary => summary.token === token)?.url)
      return time === undefined || (count >= group.length / 2 && (count > 1 || time >= timedFrom))
    })
    .sort((one, other) => Number(isFailure(other)) - Number(isFailure(one)) || other.count - one.count)
}

function isOfEach(trouble: Trouble, group: readonly ProfileSummary[], url: string | undefined): boolean {
  const same = group.filter(summary => summary.url === url)
  const has = ({ troubles = [] }: ProfileSummary) => troubles.some(other => keyOf(other) === keyOf(trouble))
  return same.length >= eachFrom && same.every(has)
}

function keyOf({ location, what }: Trouble): string {
  return `${what} ${location?.file}:${location?.line}`
}

/** The kinds of troubles of which something failed, and did not only take long. */
export const failures: ReadonlySet<string> = new Set(['crash', 'fails', 'failed query', 'failed call', 'uncaught'])

function isFailure({ what }: Trouble): boolean {
  return failures.has(what)
}

/** A number or an id: whatever has a digit. */
const idForm = /[\w-]*\d[\w-]*/g

function exceptionOf(group: Group): ExceptionOverview {
  const fails = (summary: ProfileSummary) => isFailed(summary) || (summary.failures?.errors ?? 0) > 0
  const isFailing = group.some(fails)
  const shown = most(group, summary => (isFailing && !fails(summary) ? -1 : summary.time))
  return {
    exception: shown.exception ?? '',
    messages: new Set(group.map(({ exception }) => exception?.replace(idForm, ''))).size,
    thrownAt: shown.thrownAt,
    count: group.length,
    fails: isFailing,
    last: most(group, ({ time }) => time).time,
    token: shown.token,
  }
}

/** The first with the greatest value. */
function most(group: Group, valueOf: (summary: ProfileSummary) => number): ProfileSummary {
  return group.reduce((one, other) => (valueOf(other) > valueOf(one) ? other : one))
}

/** Most time first. */
function statementsOf(summaries: readonly ProfileSummary[]): StatementOverview[] {
  const bySql = new Map<string, ListedStatement & { each: number[]; token: string; most: number }>()
  for (const { statements, token } of summaries) {
    for (const statement of statements) {
      const { sql, count, duration, slowest } = statement
      const known = bySql.get(sql) ?? { ...statement, count: 0, duration: 0, each: [], token, most: duration }
      known.count += count
      known.duration += duration
      known.slowest = Math.max(known.slowest, slowest)
      known.each.push(duration)
      if (duration > known.most) Object.assign(known, { token, most: duration })
      bySql.set(sql, known)
    }
  }
  return [...bySql.values()]
    .sort((one, other) => other.duration - one.duration)
    .map(({ count, each, length, slowest, sql, token }) => ({
      sql,
      ...(length !== undefined && { length }),
      ...durationsOf(each),
      count,
      worst: slowest,
      token,
    }))
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
  const failing = ({ troubles }: RouteOverview) => Number(troubles.some(isFailure))
  return other.failed - one.failed || failing(other) - failing(one) || other.p50 * other.count - one.p50 * one.count
}

function isFailed({ status }: ProfileSummary): boolean {
  return statusTone(status) === 'error'
}

function isRefused({ status }: ProfileSummary): boolean {
  return status !== null && status >= 400 && status < 500
}
