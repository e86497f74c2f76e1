import { METHODS } from 'node:http'
import type { SearchCriteria, SearchResult } from '../base/profile.ts'
import { perPageLimit } from './search.ts'

/** The names of labels and panels that a search may contain. */
export interface SearchNames {
  labels: readonly string[]
  panels: readonly string[]
}

/** A search, as read from a query string. */
export interface Search extends Pick<SearchResult, 'criteria' | 'problems'> {
  /** The panel that links to the profiles open. */
  panel: string | null
}

const texts = ['token', 'url', 'route', 'host', 'ip', 'exception', 'parent'] as const
const ranges = ['durationFrom', 'durationTo'] as const
const times = ['timeFrom', 'timeTo'] as const

const statusForm = /^(?:none|[1-5]xx|(?:>=|<=|>|<)?\s*\d{3})$/i
const numberForm = /^\d+(?:\.\d+)?(?:e\+?\d+)?$/i

/** The default bound of a profile's strings. */
const longestText = 4000

/** Characters and names that a message about invalid input quotes. */
const quoted = 60
const namesListed = 5

/** Reads a search from a query string, in which labels are parameters. Invalid criteria become problems. */
export function readSearch(query: URLSearchParams, { labels, panels }: SearchNames): Search {
  const criteria: SearchCriteria = {}
  const problems: string[] = []

  /** Reads a parameter with `read`; undefined if it is missing or `read` returns null. */
  const take = <Value>(name: string, takes: string, read: (value: string) => Value | null): Value | undefined => {
    const [text = '', ...others] = query
      .getAll(name)
      .map(value => value.trim())
      .filter(value => value !== '')
    if (others.length > 0) problems.push(`${name} is given ${others.length + 1} times. The first one counts.`)
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
    if (Number(criteria[from]) > Number(criteria[to])) {
      problems.push(`${from} is greater than ${to}, so nothing can match.`)
    }
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

/** An ISO 8601 date with an optional time, UTC by default. An unencoded plus in a query string arrives as a space. */
const isoForm = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+ -]\d\d:?\d\d)?)?$/i

/** Fewer digits are seconds, or a date without hyphens. */
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
  // Date.parse reads February 30th as March 2nd.
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
