import { type SearchCriteria, type SearchResult, type SortOrder, sortOrders } from '../base/summary.ts'
import { perPageLimit } from './search.ts'
import * as forms from './search-forms.ts'
import { SearchParameters } from './search-parameters.ts'
import { readWords } from './search-words.ts'

/** The names of labels and panels that a search may contain. */
export interface SearchNames {
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
export const periods = ['15min', '1h', 'all'] as const

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
  const sort = parameters.take('sort', forms.oneOf<SortOrder>(sortOrders))
  const labelled = parameters.takeAll(Object.fromEntries(labels.map(name => [name, forms.text])))
  const criteria: SearchCriteria = {
    ...texts,
    ...numbers,
    ...(sort !== null && { sort }),
    ...(Object.keys(labelled).length > 0 && { labels: labelled }),
  }
  const panel = parameters.take('panel', forms.oneOf(panels, `the name of a panel (${panels.join(', ')})`))
  const period = parameters.take('period', forms.oneOf<Period>(periods))
  const contradictions = limits
    .filter(([from, to]) => (criteria[from] ?? -Infinity) > (criteria[to] ?? Infinity))
    .map(([from, to]) => `${from} is greater than ${to}, so nothing can match.`)
  return { criteria, problems: [...parameters.problems(), ...contradictions], panel, period }
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
