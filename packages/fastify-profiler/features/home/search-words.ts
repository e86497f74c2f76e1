import type { SearchCriteria } from '../../core/summary.ts'
import { nearestName } from '../routing/similar-routes.ts'

/** Words of the search box that set a field: "slower:100ms" is durationFrom=100. */
const keys: Record<string, Exclude<keyof SearchCriteria, 'labels'>> = {
  status: 'status',
  method: 'method',
  url: 'url',
  route: 'route',
  host: 'host',
  ip: 'ip',
  exception: 'exception',
  token: 'token',
  parent: 'parent',
  sql: 'sql',
  statement: 'statement',
  failed: 'failed',
  slower: 'durationFrom',
  faster: 'durationTo',
  since: 'timeFrom',
  until: 'timeTo',
}

const durations = new Set(['slower', 'faster'])

/** A word, or one with a quoted value: route:"/a b". */
const words = /(?:[^\s"]|"[^"]*")+/g

/**
 * Reads the search box into the parameters of the search form: status:5xx route:/x slower:100ms and words of the URL,
 * the route, the exception or the token. What is not a known field is such a word.
 */
export function readWords(text: string, labels: readonly string[]): URLSearchParams {
  const query = new URLSearchParams()
  const free: string[] = []
  for (const [word] of text.matchAll(words)) {
    const colon = word.indexOf(':')
    const key = word.slice(0, Math.max(0, colon)).toLowerCase()
    const value = word.slice(colon + 1).replaceAll('"', '')
    const name = Object.hasOwn(keys, key) ? keys[key] : labels.find(label => label.toLowerCase() === key)
    if (name === undefined || value === '') free.push(word.replaceAll('"', ''))
    else query.append(name, durations.has(key) ? milliseconds(value) : value)
  }
  if (free.length > 0) query.append('text', free.join(' '))
  return query
}

/** The word of the search box that sets a parameter. A label is its own. */
export function wordFor(name: string): string {
  return Object.entries(keys).find(([, field]) => field === name)?.[0] ?? name
}

/** Says of words such as "rout:/x" or "foo:bar" that they are no fields. Ports, times and URLs have colons, too. */
export function unknownFilters(text: string, labels: readonly string[]): string[] {
  const names = [...Object.keys(keys), ...labels]
  return [...text.matchAll(words)].flatMap(([word]) => {
    const [, key = '', value = ''] = /^(\w{3,30}):(?!\/\/)(.+)/s.exec(word) ?? []
    const nearest = nearestName(key, names)
    if (nearest?.toLowerCase() === key.toLowerCase()) return []
    if (nearest !== undefined) return `There is no filter “${key}:”. Did you mean ${nearest}:?`
    return /^(?:\d|$)/.test(value) ? [] : `There is no filter “${key}:”. The word was searched as text.`
  })
}

/** "100ms", "1.5s" and "100" as milliseconds; any other text as it is. */
function milliseconds(value: string): string {
  const [, number = '', unit = 'ms'] = /^([\d.]+)(ms|s)?$/i.exec(value) ?? []
  if (number === '') return value
  return String(Number(number) * (unit.toLowerCase() === 's' ? 1000 : 1))
}

export function wordsOf(criteria: SearchCriteria): string {
  const { labels = {}, text } = criteria
  const fields = Object.entries(keys).map(([key, name]) => [key, valueText(key, criteria[name])] as const)
  const words = [...fields, ...Object.entries(labels)].flatMap(([key, value]) =>
    value === '' ? [] : [`${key}:${quoted(value)}`],
  )
  return [...words, ...(text === undefined ? [] : [text])].join(' ')
}

function valueText(key: string, value: string | number = ''): string {
  if (typeof value === 'string') return value
  return durations.has(key) ? `${value}ms` : new Date(value).toISOString()
}

function quoted(value: string): string {
  return /\s/.test(value) ? `"${value.replaceAll('"', '')}"` : value
}
