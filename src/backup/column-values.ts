import type { Column } from './kept-tables.ts'

interface ValueRule {
  accepts: (value: unknown) => boolean
  /** Completes the sentence "<column> must be …". */
  expects: string
}

const whole = /^-?\d{1,19}$/
// As to_json() writes it in UTC.
const time = /^(?:-?infinity|\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?\+00:00(?: BC)?)$/

/** The JSON values of PostgreSQL's types. The database itself judges the values of others. */
const rules: Record<string, ValueRule> = {
  bigint: { accepts: value => typeof value === 'string' && whole.test(value), expects: 'a whole number, as text' },
  integer: { accepts: value => Number.isInteger(value), expects: 'a whole number' },
  boolean: { accepts: value => typeof value === 'boolean', expects: 'true or false' },
  text: { accepts: value => typeof value === 'string', expects: 'text' },
  'timestamp with time zone': {
    accepts: value => typeof value === 'string' && time.test(value),
    expects: 'a time such as 2026-01-31T12:00:00+00:00',
  },
}

/** What is wrong with a record, as a sentence, or undefined. The database itself refuses null where it may not be. */
export function problemOf(record: Readonly<Record<string, unknown>>, columns: readonly Column[]): string | undefined {
  for (const { name, type } of columns) {
    if (!Object.hasOwn(record, name)) return `${name} is missing.`
    const value = record[name]
    const rule = rules[type]
    if (value !== null && rule?.accepts(value) === false) return `${name} must be ${rule.expects}.`
  }
  const surplus = Object.keys(record).find(field => columns.every(({ name }) => name !== field))
  return surplus === undefined ? undefined : `${quote(surplus)} is no column.`
}

/** Quotes a name from a file, cut short so that the message fits into a line. */
export function quote(name: string): string {
  return JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name)
}
