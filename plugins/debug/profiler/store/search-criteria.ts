import { METHODS } from 'node:http'
import type { SearchCriteria, SearchResult } from '../base/profile.ts'
import { perPageLimit } from './search.ts'

/** What a search can ask for besides what every profile has. */
export interface SearchNames {
  labels: readonly string[]
  panels: readonly string[]
}

/** A search as a query string asks for it. */
export interface Search extends Pick<SearchResult, 'criteria' | 'problems'> {
  /** The panel in which the profiles found are opened. */
  panel: string | null
}

const texts = ['token', 'url', 'route', 'host', 'ip', 'exception', 'parent'] as const
const ranges = ['durationFrom', 'durationTo'] as const
const times = ['timeFrom', 'timeTo'] as const

const statusForm = /^(?:none|[1-5]xx|(?:>=|<=|>|<)?\s*\d{3})$/i
const numberForm = /^\d+(?:\.\d+)?(?:e\+?\d+)?$/i

/** No text of a profile is longer, unless its bounds are raised; nor is any page to repeat more. */
const longestText = 4000

/** Of what makes no sense, so much is repeated. */
const quoted = 60
const namesListed = 5

/** Reads a search from a query string, where labels stand by their names; what makes no sense is left out, and said to be. */
export function readSearch(query: URLSearchParams, { labels, panels }: SearchNames): Search {
  const criteria: SearchCriteria = {}
  const problems: string[] = []

  /** The value of a parameter as `read` understands it; undefined where it is not there or is refused. */
  const take = <Value>(name: string, takes: string, read: (value: string) => Value | null): Value | undefined => {
    const [text = '', ...others] = query
      .getAll(name)
      .map(value => value.trim())
      .filter(value => value !== '')
    if (others.length > 0) problems.push(`${name} is there ${others.length + 1} times: the first counts.`)
    if (text === '') return undefined
    const value = read(text)
    if (value === null) problems.push(`${name} takes ${takes}, not ${quote(text)}.`)
    return value ?? undefined
  }
  const takeText = (name: string) =>
    take(name, `up to ${longestText} characters`, value => (value.length <= longestText ? value : null))

  const status = take('status', '404, 4xx, >=400 or none', value => (statusForm.test(value) ? value : null))
  if (status !== undefined) criteria.status = status
  const method = take('method', 'the name of a method', value =>
    METHODS.includes(value.toUpperCase()) ? value.toUpperCase() : null,
  )
  if (method !== undefined) criteria.method = method
  for (const name of texts) {
    const value = takeText(name)
    if (value !== undefined) criteria[name] = value
  }
  for (const name of ranges) {
    const value = take(name, 'milliseconds, 0 or more', numberOf)
    if (value !== undefined) criteria[name] = value
  }
  for (const name of times) {
    const value = take(name, 'an ISO 8601 time such as 2026-11-22T09:30Z, or milliseconds since 1970', timeOf)
    if (value !== undefined) criteria[name] = value
  }
  const page = take('page', 'a whole number, 1 or more', value => countOf(value, Number.MAX_SAFE_INTEGER))
  if (page !== undefined) criteria.page = page
  const perPage = take('perPage', `a whole number from 1 to ${perPageLimit}`, value => countOf(value, perPageLimit))
  if (perPage !== undefined) criteria.perPage = perPage
  const wanted = labels.flatMap((name): Array<[name: string, value: string]> => {
    const value = takeText(name)
    return value === undefined ? [] : [[name, value]]
  })
  if (wanted.length > 0) criteria.labels = Object.fromEntries(wanted)
  const panel =
    take('panel', `the name of a panel (${panels.join(', ')})`, value => (panels.includes(value) ? value : null)) ??
    null

  const known = new Set<string>([
    'status',
    'method',
    ...texts,
    ...ranges,
    ...times,
    'page',
    'perPage',
    ...labels,
    'panel',
  ])
  const unknown = [...new Set(query.keys())].filter(name => !known.has(name))
  if (unknown.length > 0) problems.push(`A search has no ${listOf(unknown)}: it has ${[...known].join(', ')}.`)
  for (const [from, to] of [ranges, times]) {
    if (Number(criteria[from]) > Number(criteria[to])) problems.push(`${from} is after ${to}: nothing is between them.`)
  }
  return { criteria, problems, panel }
}

function numberOf(value: string): number | null {
  const number = numberForm.test(value) ? Number(value) : Infinity
  return Number.isFinite(number) ? number : null
}

function countOf(value: string, most: number): number | null {
  const number = numberOf(value)
  return number !== null && Number.isInteger(number) && number >= 1 && number <= most ? number : null
}

/** Days, as ISO 8601 has them, with a time in UTC unless it says otherwise; a plus in a query string is a space there. */
const isoForm = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+ -]\d\d:?\d\d)?)?$/i

/** Less than these digits are seconds, or a day without its hyphens. */
const millisecondsForm = /^\d{12,14}$/

const endOfYear9999 = Date.UTC(10_000, 0)

function timeOf(value: string): number | null {
  if (millisecondsForm.test(value)) return Number(value)
  const [, day = '', time = '00:00', zone = 'Z'] = isoForm.exec(value) ?? []
  const offset = zone
    .toUpperCase()
    .replace(' ', '+')
    .replace(/(\d\d)(\d\d)$/, '$1:$2')
  const moment = Date.parse(`${day}T${time}${offset}`)
  // February the 30th would be the 2nd of March; a year of five digits has another form.
  const isTime = moment >= 0 && moment < endOfYear9999 && new Date(Date.parse(day)).toISOString().startsWith(day)
  return isTime ? moment : null
}

function listOf(names: readonly string[]): string {
  const listed = names.slice(0, namesListed).map(quote).join(', ')
  return names.length > namesListed ? `${listed} or ${names.length - namesListed} more` : listed
}

function quote(text: string): string {
  return `"${text.length > quoted ? `${text.slice(0, quoted)}…` : text}"`
}
