import { failedKinds, type SearchCriteria, type SearchResult, type SortOrder, sortOrders } from '../../core/summary.ts'
import * as forms from './search-forms.ts'
import type { SearchForm } from './search-forms.ts'
import { readWords, unknownFilters } from './search-words.ts'
import { perPageLimit } from '../../core/store/search.ts'

/** How many characters and names a message about invalid input quotes. */
const quoted = 60
const namesListed = 5

/** The parameters of one search, read by their forms. */
class SearchParameters {
  readonly #query: URLSearchParams
  readonly #known = new Set<string>()
  readonly #problems: string[] = []

  constructor(query: URLSearchParams) {
    this.#query = query
  }

  /** @returns null if it is missing or invalid */
  take<Value>(name: string, { takes, read }: SearchForm<Value>): Value | null {
    this.#known.add(name)
    const values = this.#query.getAll(name).map(value => value.trim())
    const [text = '', ...others] = values.filter(value => value !== '')
    if (others.length > 0) this.#problems.push(`${name} is given ${others.length + 1} times. The first one counts.`)
    if (text === '') return null
    const value = read(text)
    if (value === null) this.#problems.push(`${name} takes ${takes}, not ${quote(text)}.`)
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
  return `"${text.length > quoted ? `${text.slice(0, quoted)}…` : text}"`
}

/** The names of labels and panels that a search may contain. */
interface SearchNames {
  labels: readonly string[]
  panels: readonly string[]
}

/** A search, as read from a query string. */
export interface Search extends Pick<SearchResult, 'criteria' | 'problems'> {
  /** The panel that links to the profiles open. */
  panel: string | null
  /** The period that the overview is about; null for the usual one. */
  period: Period | null
}

/** Periods of the overview. */
const periods = ['15min', '1h', 'all'] as const

export type Period = (typeof periods)[number]

type FormsOf<Value> = { [Name in keyof SearchCriteria]?: forms.SearchForm<Value> }

const textCriteria = {
  status: forms.status,
  method: forms.method,
  sql: forms.queryCount,
  token: forms.text,
  url: forms.text,
  route: forms.text,
  host: forms.text,
  ip: forms.text,
  exception: forms.text,
  parent: forms.text,
  statement: forms.text,
  text: forms.text,
} satisfies FormsOf<string>

const numberCriteria = {
  durationFrom: forms.milliseconds,
  durationTo: forms.milliseconds,
  timeFrom: forms.time,
  timeTo: forms.time,
  page: forms.countUpTo(Number.MAX_SAFE_INTEGER),
  perPage: forms.countUpTo(perPageLimit),
} satisfies FormsOf<number>

const limits = [
  ['durationFrom', 'durationTo'],
  ['timeFrom', 'timeTo'],
] as const

/** Reads a search from a query string, in which labels are parameters. Invalid criteria become problems. */
export function readSearch(asked: URLSearchParams, { labels, panels }: SearchNames): Search {
  const parameters = new SearchParameters(withWords(asked, labels))
  const texts = parameters.takeAll(textCriteria)
  const numbers = parameters.takeAll(numberCriteria)
  const failed = parameters.take('failed', forms.oneOf(failedKinds))
  const sort = parameters.take('sort', forms.oneOf<SortOrder>(sortOrders))
  const labelled = parameters.takeAll(Object.fromEntries(labels.map(name => [name, forms.text])))
  const criteria: SearchCriteria = {
    ...texts,
    ...numbers,
    ...(failed !== null && { failed }),
    ...(sort !== null && { sort }),
    ...(Object.keys(labelled).length > 0 && { labels: labelled }),
  }
  const panel = parameters.take('panel', forms.oneOf(panels, `the name of a panel (${panels.join(', ')})`))
  const period = parameters.take('period', forms.oneOf<Period>(periods))
  const contradictions = limits
    .filter(([from, to]) => (criteria[from] ?? -Infinity) > (criteria[to] ?? Infinity))
    .map(([from, to]) => `${from} is greater than ${to}, so nothing can match.`)
  const words = asked.getAll('q').flatMap(text => unknownFilters(text.slice(0, forms.longestText), labels))
  return { criteria, problems: [...parameters.problems(), ...words, ...contradictions], panel, period }
}

/** Adds the parameters that the words of "q" stand for. */
function withWords(asked: URLSearchParams, labels: readonly string[]): URLSearchParams {
  const query = new URLSearchParams(asked)
  query.delete('q')
  for (const text of asked.getAll('q')) {
    for (const [name, value] of readWords(text.slice(0, forms.longestText), labels)) query.append(name, value)
  }
  return query
}
