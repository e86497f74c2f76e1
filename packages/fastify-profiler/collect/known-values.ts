import type { HttpCall, Json, Profile, Query } from '../base/profile.ts'
import { masked } from '../mask/known-secrets.ts'

/** Literals that a condition of a statement compares with. */
const compared = /[=<>]\s*('(?:[^']|'')*'|-?\d+(?:\.\d+)?)/g

/** A part of a path that is a name, and no value: methods, v2, payment-plans. */
const name = /^(?:[a-z]{3,}(?:[-_][a-z]+)*|v\d+|)$/

/** The values that a query needs, as text; null if one is hidden or too large to tell. */
export function valuesOfQuery({ parameters, sql }: Query): string[] | null {
  const literals = [...sql.matchAll(compared)].map(([, literal = '']) => literal.replace(/^'|'$/g, ''))
  const values = [...parameters.flatMap(scalarsIn), ...literals]
  return values.some(isHidden) ? null : values
}

/** The values that an HTTP request needs: all of its query, and what is no name in its path; null for an odd URL. */
export function valuesOfCall({ url }: HttpCall): string[] | null {
  if (!URL.canParse(url)) return null
  const { pathname, searchParams } = new URL(url)
  return [...pathname.split('/').filter(part => !name.test(part)), ...searchParams.values()]
}

/** What the application knew of a request before it made any call. */
export function valuesOfRequest({ host, ip, path, request }: Profile): string[] {
  const { body, cookies, headers, params, query } = request
  return [
    ...scalarsIn([body, cookies, host, ip, params, query]),
    ...headers.map(([, value]) => value),
    ...path.split('/'),
  ].filter(value => !isHidden(value))
}

/** Whether a stored text stands for a value that was masked, shortened or left out. */
function isHidden(text: string): boolean {
  return text.includes(masked) || /^\[(?:object of )?\d+ (?:characters|bytes)\]$|…/.test(text)
}

function scalarsIn(value: Json): string[] {
  if (value === null || typeof value !== 'object') return [String(value)]
  return Object.values(value).flatMap(scalarsIn)
}
