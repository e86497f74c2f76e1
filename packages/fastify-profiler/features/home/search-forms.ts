import { METHODS } from 'node:http'

/** What a parameter of a search takes. */
export interface SearchForm<Value> {
  /** For a message: "takes …". */
  takes: string
  /** @returns null if the text has another form */
  read: (text: string) => Value | null
}

/** The default bound of a profile's strings. */
export const longestText = 4000

export const text: SearchForm<string> = {
  takes: `up to ${longestText} characters`,
  read: text => (text.length <= longestText ? text : null),
}

export const status = matching(/^(?:none|[1-5]xx|(?:>=|<=|>|<)?\s*\d{3})$/i, '404, 4xx, >=400 or none')

export const queryCount = matching(/^(?:>=|<=|>|<)?\s*\d{1,6}$/, 'a number of queries such as 3 or >10')

export const method: SearchForm<string> = {
  takes: 'the name of a method',
  read: text => (METHODS.includes(text.toUpperCase()) ? text.toUpperCase() : null),
}

export const milliseconds: SearchForm<number> = { takes: 'milliseconds, 0 or more', read: numberOf }

export const time: SearchForm<number> = {
  takes: 'an ISO 8601 time such as 2026-11-22T09:30Z, or milliseconds since 1970',
  read: timeOf,
}

/** A whole number from 1 on. */
export function countUpTo(most: number): SearchForm<number> {
  return {
    takes: most === Number.MAX_SAFE_INTEGER ? 'a whole number, 1 or more' : `a whole number from 1 to ${most}`,
    read: text => {
      const number = numberOf(text) ?? 0
      return Number.isInteger(number) && number >= 1 && number <= most ? number : null
    },
  }
}

export function oneOf<Value extends string>(values: readonly Value[], takes = values.join(', ')): SearchForm<Value> {
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
