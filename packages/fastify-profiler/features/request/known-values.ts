import { attempt } from '../../core/foreign-value.ts'
import { masked } from '../../core/mask/known-secrets.ts'
import type { HttpCall, Json, Profile, Query } from '../../core/profile.ts'

/** What a condition of a statement compares with, and the literals in it. */
const compared = /[=<>]\s*(?:'(?:[^']|'')*'|-?\d+(?:\.\d+)?)|\bin\s*\([^()]*\)/gi
const literal = /'(?:[^']|'')*'|(?<![\w$:.])-?\d+(?:\.\d+)?/g

/** A part of a path that is a name, and no value: methods, v2, payment-plans. */
const name = /^(?:[a-z]{3,}(?:[-_][a-z]+)*|v\d+|)$/

/** The values that a query needs, as text; null if one is hidden or too large to tell. */
export function valuesOfQuery({ parameters, sql }: Query): string[] | null {
  const literals = [...sql.matchAll(compared)].flatMap(([part]) => part.match(literal) ?? [])
  const values = [...parameters.flatMap(scalarsIn), ...literals.map(text => text.replace(/^'|'$/g, ''))]
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

/** What is left of a request's limits for parameters. */
export interface Room {
  values: number
  characters: number
}

/** The parameters that fit into the room. Large ones are described, and the rest replaced by the total count. */
export function keptParameters(parameters: readonly unknown[], room: Room): unknown[] {
  const kept: unknown[] = []
  for (const parameter of parameters) {
    if (room.values <= 1) {
      kept.push(`… (${parameters.length} parameters)`)
      return kept
    }
    room.values--
    kept.push(keptParameter(parameter, room))
  }
  return kept
}

/** Never truncates a text, since half a secret would escape masking. */
function keptParameter(parameter: unknown, room: Room): unknown {
  if (typeof parameter === 'string') {
    if (parameter.length > room.characters) return `[${parameter.length} characters]`
    room.characters -= parameter.length
    return parameter
  }
  if (
    typeof parameter !== 'object' ||
    parameter === null ||
    parameter instanceof Date ||
    ArrayBuffer.isView(parameter)
  ) {
    return parameter
  }
  // Empty for what is circular or holds a BigInt: pg cannot send it either.
  const text = attempt(() => JSON.stringify(parameter) ?? '', '')
  const values = text.match(/[,[{]/g)?.length ?? 0
  if (text.length > room.characters || values > room.values) return `[object of ${text.length} characters]`
  room.characters -= text.length
  room.values -= values
  // What a class writes as JSON says more than its fields: the identifiers of MongoDB.
  return text === '' ? parameter : attempt((): unknown => JSON.parse(text), parameter)
}
