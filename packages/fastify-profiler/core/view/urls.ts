import { attempt } from '../foreign-value.ts'
import type { SearchCriteria } from '../summary.ts'

/** Encodes text for a URL's path or query; a lone surrogate becomes a replacement character. */
export function urlPart(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'))
}

/** A URL as people read it. What separates its parts, hides or rearranges text stays escaped. */
export function readableUrl(url: string): string {
  const escaped = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|[/?#&=+%;\\]/gu
  return url.replace(/(?:%[\da-f]{2})+/gi, run => attempt(() => decodeURIComponent(run).replace(escaped, urlPart), run))
}

/** The URL of a profile, with a panel open if one is given. */
export function profileUrl(base: string, token: string, panel?: string): string {
  return `${base}/${urlPart(token)}${panel === undefined ? '' : `?panel=${urlPart(panel)}`}`
}

const fields = [
  'token',
  'method',
  'status',
  'url',
  'route',
  'host',
  'ip',
  'exception',
  'parent',
  'sql',
  'statement',
  'text',
  'durationFrom',
  'durationTo',
  'sort',
  'perPage',
] as const

/** A time in UTC for an input of type datetime-local. */
export function inputTime(time: number | undefined): string {
  return isoTime(time).slice(0, 19)
}

/** The query string of a search without empty fields; each label is a parameter of its own name. */
export function searchQuery(criteria: SearchCriteria, page: number): string {
  const query = new URLSearchParams()
  for (const field of fields) {
    const value = criteria[field]
    if (value !== undefined && value !== '') query.set(field, String(value))
  }
  for (const field of ['timeFrom', 'timeTo'] as const) {
    const value = isoTime(criteria[field])
    if (value !== '') query.set(field, value)
  }
  for (const [name, value] of Object.entries(criteria.labels ?? {})) query.set(name, value)
  if (page > 1) query.set('page', String(page))
  return query.toString()
}

function isoTime(time: number | undefined): string {
  const date = new Date(time ?? NaN)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}
