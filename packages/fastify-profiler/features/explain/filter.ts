export interface Table {
  name: string
  /** The rows as of its last ANALYZE. */
  rows: number
  /** The table that it is a partition of; null for others. */
  parent: string | null
  /** The types of its columns, by name. */
  columns: Readonly<Record<string, string>>
}

/** A key that an index must have to find the rows of a condition. */
interface Key {
  /** "user_id", "lower(email)", "email text_pattern_ops". */
  text: string
  use: 'equal' | 'range' | 'gin'
}

/** Functions whose results an index may have: those that PostgreSQL calls immutable. */
export type Immutable = ReadonlySet<string>

/**
 * The indexes with which PostgreSQL could find the rows of a filter, as it deparses it: `((a = 1) AND (b > 2))`.
 * @param alias what the statement calls the table
 * @param order keys to sort by afterwards
 * @returns the texts of their keys; none if some part of the filter needs all rows
 */
export function indexesFor(
  filter: string,
  table: Table,
  alias: string | null,
  immutable: Immutable,
  order: readonly string[] = [],
): string[] {
  const source = { table, alias, immutable }
  const terms = parts(filter, ' AND ')
  const [only = ''] = terms
  const alternatives = parts(only, ' OR ')
  if (terms.length === 1 && alternatives.length > 1) return indexesForAny(alternatives, source)
  const keys = terms.map(term => keyOf(term, source))
  if (!keys.every(key => key !== null)) return []
  const equal = textsOf(keys, 'equal')
  const ranges = textsOf(keys, 'range')
  const gin = textsOf(keys, 'gin')
  // A second range, or one of another kind, finds its rows only among those of the first.
  if (ranges.length + gin.length > 1 || (gin.length > 0 && equal.length > 0)) return []
  if (gin.length > 0) return gin.map(key => `using gin (${key})`)
  if (order.length > 0 && ranges.length > 0) return []
  return [`(${[...equal, ...ranges, ...order].join(', ')})`]
}

/** Each alternative needs an index, unless all have the same key. */
function indexesForAny(alternatives: readonly string[], source: Source): string[] {
  const keys = alternatives.map(term => keyOf(term, source))
  const usable = keys.flatMap(key => (key === null || key.use === 'gin' ? [] : [key.text]))
  return usable.length < keys.length ? [] : [...new Set(usable)].map(key => `(${key})`)
}

/** The functions that a filter calls on columns. */
export function functionsIn(filter: string): string[] {
  return [...withoutTexts(filter).matchAll(/\b([a-z_]\w*)\(/gi)].map(([, name = '']) => name)
}

interface Source {
  table: Table
  alias: string | null
  immutable: Immutable
}

function textsOf(keys: readonly Key[], wanted: Key['use']): string[] {
  return [...new Set(keys.filter(({ use }) => use === wanted).map(({ text }) => text))]
}

/** The key for one term; null if no index finds its rows. */
function keyOf(term: string, source: Source): Key | null {
  const text = unwrapped(term)
  const isNull = /^(.*) IS NULL$/s.exec(text)
  if (isNull?.[1] !== undefined) return keyFrom(isNull[1], 'equal', source)
  const negated = /^NOT (.*)$/s.exec(text)
  if (isColumn(unwrapped(negated?.[1] ?? text), source)) return keyFrom(negated?.[1] ?? text, 'equal', source)
  for (const operator of [' = ', ' < ', ' > ', ' <= ', ' >= ', ' ~~ ', ' @> ']) {
    const [left, right, ...others] = parts(text, operator)
    if (left === undefined || right === undefined || others.length > 0) continue
    if (readsColumns(right, source)) return readsColumns(left, source) ? null : keyFrom(right, useOf(operator), source)
    if (operator === ' ~~ ') return isPrefix(right) ? withClass(keyFrom(left, 'range', source)) : null
    return keyFrom(left, useOf(operator), source)
  }
  return null
}

function useOf(operator: string): Key['use'] {
  return operator === ' = ' ? 'equal' : operator === ' @> ' ? 'gin' : 'range'
}

/** Whether a pattern of LIKE begins with letters: only then an index has its rows side by side. */
function isPrefix(pattern: string): boolean {
  return /^'[^%_']/.test(unwrapped(pattern))
}

/** An index in the order of the letters, whatever the database's collation is. */
function withClass(key: Key | null): Key | null {
  return key && { ...key, text: `${key.text} text_pattern_ops` }
}

function keyFrom(expression: string, use: Key['use'], source: Source): Key | null {
  const text = unwrapped(expression)
  // A varchar is compared as text, and its index is used as it is.
  const inner = /^\(([^()]+)\)::text$/.exec(text)?.[1]
  const column = inner !== undefined && typeOf(inner, source) === 'character varying' ? inner : text
  if (isColumn(column, source)) return { text: nameOf(column, source), use }
  if (!readsColumns(text, source) || use === 'gin') return null
  // The time zone of a session decides what such a value is, so that no index can have it.
  const isZoned = namesIn(text).some(name => typeOf(name, source) === 'timestamp with time zone')
  const isFixed = functionsIn(text).every(name => source.immutable.has(name))
  if (isZoned || !isFixed) return null
  const bare = source.alias === null ? text : text.replaceAll(`${source.alias}.`, '')
  return { text: /^\w+\(.*\)$/s.test(bare) ? bare : `(${bare})`, use }
}

function typeOf(column: string, source: Source): string | undefined {
  const name = nameOf(column, source).replace(/^"(.*)"$/s, '$1')
  return Object.hasOwn(source.table.columns, name) ? source.table.columns[name] : undefined
}

function isColumn(text: string, source: Source): boolean {
  return typeOf(text, source) !== undefined
}

function nameOf(column: string, { alias }: Source): string {
  const prefix = alias === null ? null : [`${alias}.`, `"${alias}".`].find(start => column.startsWith(start))
  return prefix == null ? column : column.slice(prefix.length)
}

/** Whether an expression depends on the row. */
function readsColumns(expression: string, source: Source): boolean {
  return namesIn(expression).some(name => isColumn(name, source))
}

function namesIn(expression: string): readonly string[] {
  return withoutTexts(expression).match(/[a-z_"][\w".]*/gi) ?? []
}

/** An expression with its texts empty, and without types. */
export function withoutTexts(expression: string): string {
  return expression.replace(/'(?:[^']|'')*'/g, "''").replace(/::[a-z][\w ]*/g, '')
}

/** The positions of an expression that are in no text, with the number of parentheses that are open after each. */
function* openAt(expression: string): Generator<[at: number, open: number]> {
  let open = 0
  let isText = false
  for (let at = 0; at < expression.length; at++) {
    const letter = expression[at]
    if (letter === "'") isText = !isText
    if (isText) continue
    if (letter === '(') open++
    if (letter === ')') open--
    yield [at, open]
  }
}

/** Splits an expression at an operator that stands outside of parentheses and texts. */
export function parts(expression: string, operator: string): string[] {
  const text = unwrapped(expression)
  const found: string[] = []
  let start = 0
  for (const [at, open] of openAt(text)) {
    if (open > 0 || !text.startsWith(operator, at)) continue
    found.push(text.slice(start, at))
    start = at + operator.length
  }
  return [...found, text.slice(start)]
}

/** An expression without parentheses around all of it. */
export function unwrapped(expression: string): string {
  const text = expression.trim()
  if (!text.startsWith('(') || !text.endsWith(')')) return text
  for (const [at, open] of openAt(text)) if (open === 0 && at < text.length - 1) return text
  return unwrapped(text.slice(1, -1))
}
