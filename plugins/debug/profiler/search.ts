import type { ProfileSummary, SearchCriteria, SearchResult } from './profile.ts'

const perPageDefault = 20
const perPageLimit = 200

/** Whether a profile is what was asked for; text is found anywhere in a value, in any case. */
export function matcherOf (criteria: SearchCriteria): (summary: ProfileSummary) => boolean {
  const tests: Array<(summary: ProfileSummary) => boolean> = []
  const text = (wanted: string | undefined, of: (summary: ProfileSummary) => string | null) => {
    if (wanted === undefined || wanted === '') return
    const lower = wanted.toLowerCase()
    tests.push(summary => of(summary)?.toLowerCase().includes(lower) ?? false)
  }
  const { method, status, durationFrom, durationTo, timeFrom, timeTo } = criteria
  if (criteria.token !== undefined && criteria.token !== '') tests.push(summary => summary.token === criteria.token)
  if (method !== undefined && method !== '') tests.push(summary => summary.method === method.toUpperCase())
  if (status !== undefined && status !== '') tests.push(statusTest(status))
  text(criteria.url, summary => summary.url)
  text(criteria.route, summary => summary.route)
  text(criteria.host, summary => summary.host)
  text(criteria.ip, summary => summary.ip)
  if (durationFrom !== undefined) tests.push(summary => summary.duration >= durationFrom)
  if (durationTo !== undefined) tests.push(summary => summary.duration <= durationTo)
  if (timeFrom !== undefined) tests.push(summary => summary.time >= timeFrom)
  if (timeTo !== undefined) tests.push(summary => summary.time <= timeTo)
  for (const [name, wanted] of Object.entries(criteria.labels ?? {})) text(wanted, summary => summary.labels[name] ?? null)
  return summary => tests.every(test => test(summary))
}

/** "404", "4xx", ">=400", "none" for requests that were never answered. */
function statusTest (wanted: string): (summary: ProfileSummary) => boolean {
  if (wanted === 'none') return summary => summary.status === null
  const family = /^([1-5])xx$/i.exec(wanted)?.[1]
  if (family !== undefined) return summary => Math.floor(Number(summary.status) / 100) === Number(family)
  const [, sign = '', number = ''] = /^(>=|<=|>|<)?\s*(\d+)$/.exec(wanted) ?? []
  const limit = Number(number)
  return ({ status }) => {
    if (status === null || number === '') return false
    if (sign === '>=') return status >= limit
    if (sign === '<=') return status <= limit
    if (sign === '>') return status > limit
    if (sign === '<') return status < limit
    return status === limit
  }
}

/** One page of what was found, the newest first. */
export function pageOf (criteria: SearchCriteria, found: ProfileSummary[]): SearchResult {
  const perPage = Math.min(Math.max(1, criteria.perPage ?? perPageDefault), perPageLimit)
  const pages = Math.max(1, Math.ceil(found.length / perPage))
  const page = Math.min(Math.max(1, criteria.page ?? 1), pages)
  found.sort((one, other) => other.time - one.time)
  return { criteria, profiles: found.slice((page - 1) * perPage, page * perPage), total: found.length, page, pages }
}

const texts = ['token', 'method', 'status', 'url', 'route', 'host', 'ip'] as const
const numbers = ['durationFrom', 'durationTo', 'page', 'perPage'] as const
const times = ['timeFrom', 'timeTo'] as const

/** Reads criteria from a query string, where labels stand by their names; what makes no sense is left out. */
export function readCriteria (query: URLSearchParams, labelNames: readonly string[]): SearchCriteria {
  const criteria: SearchCriteria = {}
  for (const name of texts) {
    const value = query.get(name)?.trim()
    if (value !== undefined && value !== '') criteria[name] = value
  }
  for (const name of numbers) {
    const value = query.get(name)?.trim() ?? ''
    if (value !== '' && Number.isFinite(Number(value))) criteria[name] = Number(value)
  }
  for (const name of times) {
    const value = query.get(name)?.trim() ?? ''
    const time = /^\d+$/.test(value) ? Number(value) : Date.parse(inUtc(value))
    if (!Number.isNaN(time)) criteria[name] = time
  }
  const labels: Array<[string, string]> = []
  for (const name of labelNames) {
    const value = query.get(name)?.trim() ?? ''
    if (value !== '') labels.push([name, value])
  }
  if (labels.length > 0) criteria.labels = Object.fromEntries(labels)
  return criteria
}

/** A browser's field for a moment knows no zone; the form says that it is UTC. */
function inUtc (moment: string): string {
  return /T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/.test(moment) ? `${moment}Z` : moment
}
