import { failedKinds, type SearchCriteria, type SearchResult, type SortOrder, sortOrders } from '../../core/summary.ts'
import { isoTime } from '../../core/urls.ts'
import { cut } from '../../core/view/units.ts'
import { readWords, unknownFilters, wordFor } from './search-words.ts'
import { perPageLimit } from '../../core/store/search.ts'
import { METHODS } from 'node:http'
import { statementShape } from '../../core/statement-shape.ts'

interface SearchForm<Value> {
  /** For a message: "takes …". */
  takes: string
  /** @returns null if the text has another form */
  read: (text: string) => Value | null
}

/** The default bound of a profile's strings. */
const longestText = 4000

const anyText: SearchForm<string> = {
  takes: `up to ${longestText} characters`,
  read: text => (text.length <= longestText ? text : null),
}

const status = matching(/^(?:none|[1-5]xx|(?:>=|<=|>|<)?\s*\d{3})$/i, '404, 4xx, >=400 or none')

const queryCount = matching(/^(?:>=|<=|>|<)?\s*\d{1,6}$/, 'a number of queries such as 3 or >10')

const method: SearchForm<string> = {
  takes: 'the name of a method',
  read: text => (METHODS.includes(text.toUpperCase()) ? text.toUpperCase() : null),
}

const milliseconds: SearchForm<number> = { takes: 'milliseconds, 0 or more', read: numberOf }

const time: SearchForm<number> = {
  takes: 'an ISO 8601 time such as 2026-11-22T09:30Z, or milliseconds since 1970',
  read: timeOf,
}

/** A whole number from 1 on. */
function countUpTo(most: number): SearchForm<number> {
  return {
    takes: most === Number.MAX_SAFE_INTEGER ? 'a whole number, 1 or more' : `a whole number from 1 to ${most}`,
    read: text => {
      const number = numberOf(text) ?? 0
      return Number.isInteger(number) && number >= 1 && number <= most ? number : null
    },
  }
}

function oneOf<Value extends string>(values: readonly Value[], takes = values.join(', ')): SearchForm<Value> {
  return { takes, read: text => values.find(value => value === text) ?? null }
}

function matching(form: RegExp, takes: string): SearchForm<string> {
  return { takes, read: text => (form.test(text) ? text : null) }
}

const numberForm = /^\d+(?:\.\d+)?(?:e\+?\d+)?$/i

function numberOf(value: string): number | null {
  const number = numberForm.test(value) ? Number(value) : Infinity
  return Number.isFinite(number) ? number : null
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

/** How many characters and names a message about invalid input quotes. */
const quoted = 60
const namesListed = 5

/** The parameters of one search. What nobody takes is a problem. */
class SearchParameters {
  readonly #query: URLSearchParams
  readonly #form: URLSearchParams
  readonly #known = new Set<string>()
  readonly #problems: string[] = []
  /** What invalid parameters take. */
  readonly invalid: string[] = []

  /** @param words the parameters that the words of the search box stand for */
  constructor(form: URLSearchParams, words: URLSearchParams) {
    this.#query = new URLSearchParams([...form, ...words])
    this.#form = form
  }

  /** The name of a parameter as the user wrote it. */
  nameOf(name: string): string {
    const isInForm = this.#form.getAll(name).some(value => value.trim() !== '')
    return isInForm ? name : wordFor(name)
  }

  /** @returns null if it is missing or invalid */
  take<Value>(name: string, { takes, read }: SearchForm<Value>): Value | null {
    this.#known.add(name)
    const values = this.#query.getAll(name).map(value => value.trim())
    const [text = '', ...others] = values.filter(value => value !== '')
    const said = this.nameOf(name)
    if (others.length > 0) this.#problems.push(`${said} is given ${others.length + 1} times. The first one counts.`)
    if (text === '') return null
    const value = read(text)
    if (value === null) {
      this.#problems.push(`${said} takes ${takes}, not ${quote(text)}.`)
      this.invalid.push(`${said} takes ${takes}.`)
    }
    return value
  }

  /** @returns those that are neither missing nor invalid */
  takeAll<Value>(forms: Readonly<Record<string, SearchForm<Value>>>): Record<string, Value> {
    const taken: Array<[name: string, value: Value]> = []
    for (const [name, form] of Object.entries(forms)) {
      const value = this.take(name, form)
      if (value !== null) taken.push([name, value])
    }
    return Object.fromEntries(taken)
  }

  /** Sentences about the parameters that were invalid or that nobody took. */
  problems(): string[] {
    const unknown = [...new Set(this.#query.keys())].filter(name => !this.#known.has(name))
    if (unknown.length === 0) return this.#problems
    return [...this.#problems, `A search has no ${listOf(unknown)}: it has ${[...this.#known].join(', ')}.`]
  }
}

function listOf(names: readonly string[]): string {
  const listed = names.slice(0, namesListed).map(quote).join(', ')
  return names.length > namesListed ? `${listed} or ${names.length - namesListed} more` : listed
}

function quote(text: string): string {
  return `"${cut(text, quoted)}"`
}

interface SearchNames {
  labels: readonly string[]
  panels: readonly string[]
}

/** A search, as read from a query string. */
export interface Search extends Pick<SearchResult, 'criteria' | 'problems'> {
  /** What invalid parameters take, without quoting them. More is found without them than was asked for. */
  invalid: string[]
  /** The panel that links to the profiles open. */
  panel: string | null
  /** The period that the overview is about; null for the usual one. */
  period: Period | null
}

const periods = ['15min', '1h', 'all'] as const

export type Period = (typeof periods)[number]

type FormsOf<Value> = { [Name in keyof SearchCriteria]?: SearchForm<Value> }

const anyTexts = ['token', 'url', 'route', 'host', 'ip', 'exception', 'parent', 'statement', 'text'] as const

const textCriteria: FormsOf<string> = {
  status,
  method,
  sql: queryCount,
  ...Object.fromEntries(anyTexts.map(name => [name, anyText])),
  statement: { ...anyText, read: text => (text.length <= longestText ? statementShape(text) : null) },
}

const numberCriteria = {
  durationFrom: milliseconds,
  durationTo: milliseconds,
  timeFrom: time,
  timeTo: time,
  page: countUpTo(Number.MAX_SAFE_INTEGER),
  perPage: countUpTo(perPageLimit),
} satisfies FormsOf<number>

const limits = [
  ['durationFrom', 'durationTo'],
  ['timeFrom', 'timeTo'],
] as const

/** Reads a search from a query string, in which labels are parameters. Invalid criteria become problems. */
export function readSearch(asked: URLSearchParams, { labels, panels }: SearchNames): Search {
  const query = new URLSearchParams(asked)
  query.delete('q')
  const written = asked.getAll('q').map(text => text.slice(0, longestText))
  const words = new URLSearchParams(written.flatMap(text => [...readWords(text, labels)]))
  const parameters = new SearchParameters(query, words)
  const texts = parameters.takeAll(textCriteria)
  const numbers = parameters.takeAll(numberCriteria)
  const failed = parameters.take('failed', oneOf(failedKinds))
  const sort = parameters.take('sort', oneOf<SortOrder>(sortOrders))
  const labelled = parameters.takeAll(Object.fromEntries(labels.map(name => [name, anyText])))
  const criteria: SearchCriteria = {
    ...texts,
    ...numbers,
    ...(failed !== null && { failed }),
    ...(sort !== null && { sort }),
    ...(Object.keys(labelled).length > 0 && { labels: labelled }),
  }
  const panel = parameters.take('panel', oneOf(panels, `the name of a panel (${panels.join(', ')})`))
  const period = parameters.take('period', oneOf<Period>(periods))
  const contradictions = limits
    .filter(([from, to]) => (criteria[from] ?? -Infinity) > (criteria[to] ?? Infinity))
    .map(([from, to]) => `${parameters.nameOf(from)} is greater than ${parameters.nameOf(to)}, so nothing can match.`)
  const unknown = new Set(written.flatMap(text => unknownFilters(text, labels)))
  const problems = [...parameters.problems(), ...[...unknown].slice(0, namesListed), ...contradictions]
  return { criteria, problems, invalid: parameters.invalid, panel, period }
}

/** The query string of a search without empty fields; each label is a parameter of its own name. */
export function searchQuery({ labels, page: _, timeFrom, timeTo, ...fields }: SearchCriteria, page: number): string {
  const query = new URLSearchParams()
  const all = { ...fields, timeFrom: isoTime(timeFrom), timeTo: isoTime(timeTo), ...labels }
  for (const [name, value] of Object.entries(all)) if (value !== '') query.set(name, String(value))
  if (page > 1) query.set('page', String(page))
  return query.toString()
}
