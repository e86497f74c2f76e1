import type { SearchCriteria } from '../../core/summary.ts'
import { pathDistance } from '../routing/similar-routes.ts'

/** Words of the search box that set a field: "slower:100ms" is durationFrom=100. */
const keys: Record<string, string> = {
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

/** Asks about words such as "rout:/x", which are fields but for a letter or two. */
export function unknownFilters(text: string, labels: readonly string[]): string[] {
  const names = [...Object.keys(keys), ...labels]
  return [...text.matchAll(words)].flatMap(([word]) => {
    const [, key = ''] = /^(\w{3,}):./.exec(word) ?? []
    const [nearest] = names
      .map(name => ({ name, distance: pathDistance([key], [name]) }))
      .sort((one, other) => one.distance - other.distance)
    const isNear = key !== '' && nearest !== undefined && nearest.distance > 0 && nearest.distance <= 2
    return isNear ? `There is no filter “${key}:”. Did you mean ${nearest.name}:?` : []
  })
}

/** "100ms", "1.5s" and "100" as milliseconds; any other text as it is. */
function milliseconds(value: string): string {
  const [, number = '', unit = 'ms'] = /^([\d.]+)(ms|s)?$/i.exec(value) ?? []
  if (number === '') return value
  return String(Number(number) * (unit.toLowerCase() === 's' ? 1000 : 1))
}

/** A search as the words that describe it. */
export function wordsOf(criteria: SearchCriteria): string {
  const { durationFrom, durationTo, labels = {}, text, timeFrom, timeTo } = criteria
  const values: Array<[key: string, value: string | undefined]> = [
    ['status', criteria.status],
    ['method', criteria.method],
    ['url', criteria.url],
    ['route', criteria.route],
    ['host', criteria.host],
    ['ip', criteria.ip],
    ['exception', criteria.exception],
    ['token', criteria.token],
    ['parent', criteria.parent],
    ['sql', criteria.sql],
    ['statement', criteria.statement],
    ['failed', criteria.failed],
    ['slower', durationFrom === undefined ? undefined : `${durationFrom}ms`],
    ['faster', durationTo === undefined ? undefined : `${durationTo}ms`],
    ['since', timeText(timeFrom)],
    ['until', timeText(timeTo)],
    ...Object.entries(labels),
  ]
  const fields = values.flatMap(([key, value]) =>
    value === undefined || value === '' ? [] : [`${key}:${quoted(value)}`],
  )
  return [...fields, ...(text === undefined ? [] : [text])].join(' ')
}

function timeText(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString()
}

function quoted(value: string): string {
  return /\s/.test(value) ? `"${value.replaceAll('"', '')}"` : value
}
