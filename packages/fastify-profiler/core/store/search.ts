import { groupBy } from '../group-by.ts'
import type { ProfileSummary, SearchCriteria, SearchResult, SortOrder } from '../summary.ts'

/** Fewer equal requests are not folded. */
const pollsFrom = 10
const shortestInterval = 500

/** Part of the intervals that have to be near the usual one. */
const regularPart = 0.8

/** The newest of each series of equal requests at regular intervals, with the number that it stands for. */
interface FoldedPolls {
  profiles: ProfileSummary[]
  polls: Record<string, number>
}

/** Folds requests that a program repeats at regular intervals, such as health checks. @param found newest first */
export function foldPolls(found: readonly ProfileSummary[]): FoldedPolls {
  const answered = found.filter(({ exception, status }) => status !== null && status < 400 && exception === null)
  const series = groupBy(answered, ({ method, status, url }) => `${status} ${method} ${url}`)
  const folded = new Set<ProfileSummary>()
  const polls: Record<string, number> = {}
  for (const [newest, ...others] of series.values()) {
    if (!isRegular([newest, ...others])) continue
    polls[newest.token] = others.length + 1
    for (const summary of others) folded.add(summary)
  }
  return { profiles: found.filter(summary => !folded.has(summary)), polls }
}

function isRegular(summaries: readonly ProfileSummary[]): boolean {
  if (summaries.length < pollsFrom) return false
  const intervals = summaries.slice(1).map(({ time }, index) => (summaries[index]?.time ?? time) - time)
  const usual = intervals.toSorted((one, other) => one - other)[Math.floor(intervals.length / 2)] ?? 0
  const regular = intervals.filter(interval => interval >= usual / 2 && interval <= usual * 1.5)
  return usual >= shortestInterval && regular.length >= intervals.length * regularPart
}

const perPageDefault = 20
export const perPageLimit = 200

/** Makes a function that tests a profile. Text matches as a substring, in any case. */
export function matcherOf(criteria: SearchCriteria): (summary: ProfileSummary) => boolean {
  const tests: Array<(summary: ProfileSummary) => boolean> = []
  const text = (wanted: string | undefined, of: (summary: ProfileSummary) => string | null) => {
    if (wanted === undefined || wanted === '') return
    const lower = wanted.toLowerCase()
    tests.push(summary => of(summary)?.toLowerCase().includes(lower) ?? false)
  }
  const { durationFrom, durationTo, failed, method, status, timeFrom, timeTo } = criteria
  if (criteria.token !== undefined && criteria.token !== '') tests.push(summary => summary.token === criteria.token)
  if (criteria.parent !== undefined && criteria.parent !== '') tests.push(summary => summary.parent === criteria.parent)
  if (method !== undefined && method !== '') tests.push(summary => summary.method === method.toUpperCase())
  if (status !== undefined && status !== '') tests.push(statusTest(status))
  const { origin, path } = partsOf(criteria.url ?? '')
  text(origin, summary => summary.host)
  text(path, summary => summary.url)
  if (criteria.route?.startsWith('=') === true) {
    const wanted = criteria.route.slice(1)
    tests.push(summary => (summary.route ?? '') === wanted)
  } else text(criteria.route, summary => summary.route)
  text(withoutPort(criteria.host ?? ''), summary => summary.host)
  text(criteria.ip, summary => summary.ip)
  text(criteria.exception, summary => summary.exception)
  if (criteria.sql !== undefined && criteria.sql !== '') {
    const isWanted = numberTest(criteria.sql)
    tests.push(({ queries }) => isWanted(queries.count))
  }
  if (failed !== undefined) {
    tests.push(({ failures }) => (failures?.[failed === 'query' ? 'queries' : 'calls'] ?? 0) > 0)
  }
  text(criteria.statement, ({ statements }) => statements.map(({ sql }) => sql).join('\n'))
  for (const word of criteria.text?.split(/\s+/) ?? []) text(word, searchedText)
  if (durationFrom !== undefined) tests.push(summary => summary.duration >= durationFrom)
  if (durationTo !== undefined) tests.push(summary => summary.duration <= durationTo)
  if (timeFrom !== undefined) tests.push(summary => summary.time >= timeFrom)
  if (timeTo !== undefined) tests.push(summary => summary.time <= timeTo)
  for (const [name, wanted] of Object.entries(criteria.labels ?? {})) {
    text(wanted, summary => summary.labels[name] ?? null)
  }
  return summary => tests.every(test => test(summary))
}

/** Splits a URL into its host and its path, as profiles have them; any other text is a path. */
function partsOf(url: string): { origin: string; path: string } {
  const [, host = '', path = url] = /^https?:\/\/([^/?#]*)([^#]*)/i.exec(url) ?? []
  return { origin: withoutPort(host), path }
}

/** Removes the port from a host, since profiles store hosts without ports. */
function withoutPort(host: string): string {
  return host.replace(/^([^:]*|\[.*\]):\d*$/, '$1')
}

/** Tests a status: "404", "4xx", ">=400", or "none" for requests without a response. */
function statusTest(wanted: string): (summary: ProfileSummary) => boolean {
  if (wanted === 'none') return summary => summary.status === null
  const family = /^([1-5])xx$/i.exec(wanted)?.[1]
  if (family !== undefined) return summary => Math.floor((summary.status ?? 0) / 100) === Number(family)
  const isWanted = numberTest(wanted)
  return ({ status }) => status !== null && isWanted(status)
}

/** Tests a number: "404", ">=400", ">10". */
function numberTest(wanted: string): (number: number) => boolean {
  const [, sign = '', digits = ''] = /^(>=|<=|>|<)?\s*(\d+)$/.exec(wanted) ?? []
  const limit = Number(digits)
  return number => {
    if (digits === '') return false
    if (sign === '>=') return number >= limit
    if (sign === '<=') return number <= limit
    if (sign === '>') return number > limit
    if (sign === '<') return number < limit
    return number === limit
  }
}

function searchedText({ exception, host, labels, method, route, thrownAt, token, url }: ProfileSummary): string {
  return [method, url, route, exception, thrownAt, host, token, ...Object.values(labels)].join('\n')
}

const sizes: Record<SortOrder, (summary: ProfileSummary) => number> = {
  duration: ({ duration }) => duration,
  sql: ({ queries }) => queries.count,
  sqlTime: ({ queries }) => queries.duration,
  size: ({ size }) => size ?? -1,
  oldest: ({ time }) => -time,
}

/** Whether a search wants all requests in order of time, so that those of pollers may be folded. */
function isPlain(criteria: SearchCriteria): boolean {
  const { page, perPage, ...wanted } = criteria
  return Object.keys(wanted).length === 0
}

/** Sorts what was found, by default newest first, and cuts out a page. */
export function pageOf(criteria: SearchCriteria, found: ProfileSummary[]): SearchResult {
  const perPage = Math.min(Math.max(1, criteria.perPage ?? perPageDefault), perPageLimit)
  const { profiles: rows, polls } = sorted(criteria, found)
  const pages = Math.max(1, Math.ceil(rows.length / perPage))
  const wanted = Math.max(1, criteria.page ?? 1)
  const page = Math.min(wanted, pages)
  const problems = wanted > pages ? [`There is no page ${wanted}. The last page is ${pages}.`] : []
  const profiles = rows.slice((page - 1) * perPage, page * perPage)
  return { criteria, problems, profiles, polls, total: found.length, page, pages }
}

function sorted(criteria: SearchCriteria, found: ProfileSummary[]): FoldedPolls {
  const profiles = newestFirst(found)
  if (isPlain(criteria)) return foldPolls(profiles)
  const { sort } = criteria
  if (sort !== undefined) profiles.sort((one, other) => sizes[sort](other) - sizes[sort](one))
  return { profiles, polls: {} }
}

export function newestFirst(profiles: ProfileSummary[]): ProfileSummary[] {
  return profiles.sort((one, other) => other.time - one.time)
}
