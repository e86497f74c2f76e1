import type { ProfileSummary, SearchCriteria, SearchResult } from '../base/profile.ts'

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
  const { method, status, durationFrom, durationTo, timeFrom, timeTo } = criteria
  if (criteria.token !== undefined && criteria.token !== '') tests.push(summary => summary.token === criteria.token)
  if (criteria.parent !== undefined && criteria.parent !== '') tests.push(summary => summary.parent === criteria.parent)
  if (method !== undefined && method !== '') tests.push(summary => summary.method === method.toUpperCase())
  if (status !== undefined && status !== '') tests.push(statusTest(status))
  const { origin, path } = partsOf(criteria.url ?? '')
  text(origin, summary => summary.host)
  text(path, summary => summary.url)
  text(criteria.route, summary => summary.route)
  text(withoutPort(criteria.host ?? ''), summary => summary.host)
  text(criteria.ip, summary => summary.ip)
  text(criteria.exception, summary => summary.exception)
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

/** Sorts what was found, newest first, and cuts out a page. */
export function pageOf(criteria: SearchCriteria, found: ProfileSummary[]): SearchResult {
  const perPage = Math.min(Math.max(1, criteria.perPage ?? perPageDefault), perPageLimit)
  const pages = Math.max(1, Math.ceil(found.length / perPage))
  const wanted = Math.max(1, criteria.page ?? 1)
  const page = Math.min(wanted, pages)
  const problems = wanted > pages ? [`There is no page ${wanted}. The last page is ${pages}.`] : []
  found.sort((one, other) => other.time - one.time)
  const profiles = found.slice((page - 1) * perPage, page * perPage)
  return { criteria, problems, profiles, total: found.length, page, pages }
}
