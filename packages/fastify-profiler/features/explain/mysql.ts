import type { ExplainClient, ExplainQuery } from '../../core/feature.ts'
import { isRecord, listOf, textOf } from '../../core/foreign-value.ts'
import type { Json, Query } from '../../core/profile.ts'
import { parts, unwrapped } from './filter.ts'
import { NoPlan, type ShownNode } from './plan.ts'
import { exact, manyRows, soundVerdict, type Verdict, warning } from './verdicts.ts'

/** MySQL prefers a scan earlier than PostgreSQL does. */
const smallPart = 0.05

interface Step extends ShownNode {
  /** The columns that are looked up in its index. */
  lookedUp: string[]
}

/** Asks MySQL or MariaDB for the plan of a query. MariaDB alone runs it again. */
export async function explainOnMysql(client: ExplainClient, query: Query, run: boolean) {
  const { parameters, rows, sql } = query
  const asked = placed(`${run ? 'analyze' : 'explain'} format=json ${sql}`, parameters)
  const explained = await client.query({ ...asked, queryMode: 'extended' })
  const plan = textOf(valuesOf(explained.rows[0])[0])
  const steps: Step[] = []
  // MariaDB copies the backslashes and tabs of a condition as they are.
  const escaped = plan.replace(/(\\["\\/bfnrtu])|\\/g, (_, pair?: string) => pair ?? '\\\\').replace(/\p{Cc}/gu, ' ')
  addSteps(JSON.parse(escaped), -1, steps)
  const words = [...new Set(asked.text.match(/[\p{L}\p{N}_$]+/gu))]
  const known = await client.query({ ...placed(columnQuery, [words, words]), queryMode: 'extended' })
  const plain = asked.text.replaceAll('`', '')
  const tables = new Map<string, Map<string, string>>()
  for (const row of known.rows) {
    const [table = '', column = '', type = ''] = valuesOf(row).map(textOf)
    if (!plain.includes(table.replaceAll('`', ''))) continue
    tables.set(table, (tables.get(table) ?? new Map<string, string>()).set(column, type))
  }
  // Servers before MariaDB 10.8 repeat keys, of which a parser keeps the last.
  const isWhole = steps.length === plan.split('"table_name"').length - 1
  const counted = isWhole && !otherRows.test(sql) ? rows : null
  const verdicts = steps.flatMap((step, index) =>
    // Tables that are read later change how many rows there are.
    verdictOf(step, index === steps.length - 1 ? counted : null, { sql: asked.text, tables }),
  )
  return { nodes: steps, verdicts: verdicts.length > 0 ? verdicts : [soundVerdict(steps)] }
}

function valuesOf(row: unknown): readonly unknown[] {
  return isRecord(row) ? Object.values(row) : []
}

/** The columns of tables, which have the name of their database before theirs if it is not that of the connection. */
const columnQuery = `select concat(coalesce(concat('\`', nullif(table_schema, database()), '\`.'), ''), '\`', table_name, '\`'),
  column_name, concat(column_type, ' ', coalesce(collation_name, ''))
from information_schema.columns where (table_schema = database() or table_schema in (?)) and table_name in (?)`

/** Places for values and names; also literals, quoted names and comments, so that their content is skipped. */
const placeholder = /'(?:\\.|''|[^'\\])*'|"(?:\\.|""|[^"\\])*"|`[^`]*`|\/\*.*?\*\/|(?:#|--\s)[^\n]*|\?\??|:[a-z_]\w*/gis

/**
 * The statement for a server that gets its texts as parameters: escaped, they would mean something else in some modes
 * and character sets. The lists and objects of mysql2 become as many parameters. Numbers, true, false and null are
 * written in place, since no parameter may follow LIMIT or IS.
 */
function placed(sql: string, values: readonly Json[]): Pick<ExplainQuery, 'text' | 'values'> {
  const texts: string[] = []
  const left = [...values]
  const [named] = values
  const place = (value: Json): string => {
    if (Array.isArray(value)) {
      return value.map(item => (Array.isArray(item) ? `(${place(item)})` : place(item))).join(', ')
    }
    if (isRecord(value)) {
      const fields = Object.entries(value).map(([name, item]) => `${quoted(name)} = ${place(item)}`)
      return fields.join(', ')
    }
    if (typeof value !== 'string') return String(value)
    texts.push(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/.test(value) ? localTime(value) : value)
    return '?'
  }
  const text = sql.replace(placeholder, found => {
    if (found.startsWith(':')) {
      const name = found.slice(1)
      return isRecord(named) && Object.hasOwn(named, name) ? place(named[name] ?? null) : found
    }
    const value = found.startsWith('?') ? left.shift() : undefined
    if (value === undefined) return found
    return found === '?' ? place(value) : (Array.isArray(value) ? value : [value]).map(quoted).join(', ')
  })
  return { text, values: texts }
}

/** A date as mysql2 sends it, unless it is told to use another time zone than that of the process. */
function localTime(date: string): string {
  const time = new Date(date)
  return new Date(Number(time) - time.getTimezoneOffset() * 60_000).toISOString().slice(0, -1).replace('T', ' ')
}

/** A name that a parameter gives. Other characters could end it, in some character sets. */
function quoted(name: Json): string {
  if (typeof name === 'string' && /^[\w$.]+$/.test(name)) return `\`${name.replaceAll('.', '`.`')}\``
  throw new NoPlan('A query is not planned if a parameter names its columns or tables, other than by plain names.')
}

/** Statements whose rows are others than those that a filter leaves. */
const otherRows =
  /\b(?:limit|distinct|group|union|having|over|exists|select\b.+\bselect)\b|\b(?:count|sum|avg|min|max|\w+agg|group_concat)\s*\(/is

const types: Record<string, string> = {
  ALL: 'Table scan',
  index: 'Index scan',
  range: 'Index range scan',
  ref: 'Index lookup',
}

/** Adds the tables of a part of a plan. @param join the condition of a join without an index */
function addSteps(part: unknown, depth: number, steps: Step[], join: unknown = null): void {
  if (Array.isArray(part)) for (const one of part) addSteps(one, depth, steps)
  if (!isRecord(part)) return
  if (typeof part.table_name === 'string') steps.push(stepOf(part, depth, join))
  for (const [key, below] of Object.entries(part)) {
    if (key !== 'block-nl-join' || !isRecord(below)) {
      addSteps(below, depth + (key === 'table' ? 1 : 0), steps, key === 'table' ? join : null)
    } else addSteps(below, depth, steps, below.attached_condition)
  }
}

function stepOf(table: Record<string, unknown>, depth: number, join: unknown): Step {
  const number = (name: string) => (table[name] === undefined ? null : Number(table[name]))
  const read = number('r_rows')
  const loops = number('r_loops')
  const conditions = new Set(
    [table.index_condition, table.attached_condition, join].filter(one => typeof one === 'string'),
  )
  return {
    type: types[textOf(table.access_type)] ?? textOf(table.access_type),
    depth,
    // MariaDB names it <derived2>, and MySQL as the statement does.
    relation: 'materialized_from_subquery' in table ? `<${textOf(table.table_name)}>` : textOf(table.table_name),
    index: typeof table.key === 'string' ? table.key : null,
    filter: conditions.size === 0 ? null : [...conditions].map(condition => `(${condition})`).join(' and '),
    expected: number('rows') ?? number('rows_examined_per_scan') ?? 0,
    // What a join's own condition leaves is counted elsewhere.
    actual: read === null || join !== null ? null : (read * (loops ?? 1) * (number('r_filtered') ?? 100)) / 100,
    time: number('r_table_time_ms'),
    lookedUp: table.access_type === 'ref' ? listOf(table.used_key_parts).map(textOf) : [],
  }
}

interface Asked {
  sql: string
  /** The types of the columns, by quoted table and name: "varchar(80) utf8mb4_general_ci". */
  tables: ReadonlyMap<string, ReadonlyMap<string, string>>
}

/**
 * What is wrong about how a table is read. Only a query that has run tells how many rows a filter leaves.
 * @param counted the rows that the query had; null if they are others than those of the table
 */
function verdictOf(step: Step, counted: number | null, asked: Asked): Verdict[] {
  const { actual, expected, filter, index, relation, type } = step
  const table = tableOf(relation ?? '', asked)
  // What a statement makes itself is no table.
  const isTable = relation?.startsWith('<') === false
  if (!isTable || filter === null || expected < manyRows || !Object.values(types).includes(type)) return []
  const isScan = type === types.ALL || type === types.index
  const name = table?.replaceAll('`', '') ?? relation
  const reads = `${isScan ? 'Reads all' : `${index} finds`} about ${exact(expected)} rows of ${name}`
  const left = actual ?? counted
  if (left === null) {
    const claim = `${reads} for a filter. How many it leaves is only known when it has run.`
    return [{ tone: 'neutral', claim, remedy: '', sql: null }]
  }
  if (left > expected * smallPart) return []
  const claim = `${reads}${isScan ? ' to find' : ', and a filter keeps'} ${exact(left)}.`
  if (table === null) return warning(claim, 'Which table that is, is not certain, so that no index is advised.')
  const indexes = indexesFor(step, asked)
  if (indexes.length === 0) return warning(claim, withoutIndex(filter))
  const remedy = `An index${indexes.length > 1 ? ' for each alternative' : ''} would find them at once:`
  return warning(claim, remedy, `alter table ${table} ${indexes.map(keys => `add index (${keys})`).join(', ')}`)
}

function withoutIndex(filter: string): string {
  if (/<>|\bnot /.test(filter)) return 'An index does not find what differs from a value.'
  if (/ like '%/.test(filter)) return 'A fulltext index finds words anywhere in a text, by match … against.'
  if (/\w\(/.test(filter)) {
    return 'What is computed from a column has no index. Compare the column itself, for example with a range.'
  }
  return / = -?\d/.test(filter) ? 'An index on a text finds no numbers. Compare it with a text.' : ''
}

/** The table that a statement calls so; null if that is not certain. */
function tableOf(alias: string, { sql, tables }: Asked): string | null {
  const names = [...sql.matchAll(/([\p{L}\p{N}_$]+)`?\s+(?:as\s+)?(?=`?([\p{L}\p{N}_$]+))/giu)]
  const named = names.flatMap(([, table = '', name]) => (name === alias ? [table] : []))
  const [table = null, ...others] = [...tables.keys()].filter(table =>
    [alias, ...named].some(name => table.endsWith(`\`${name}\``)),
  )
  return others.length > 0 ? null : table
}

/** Columns with a type of this kind are found by literals of these forms. */
const literals: [type: RegExp, literal: RegExp][] = [
  [/^(?:(?:tiny|small|medium|big)?int|decimal|float|double|year)/, /^'?-?\d+(?:\.\d+)?'?$/],
  [/^(?:var)?char|text/, /^(?:_\w+)?'.*'$/s],
  [/^(?:date|time)/, /^(?:date|timestamp|time)?'.*'$/is],
]

/** Of these an index has the beginning. */
const longText = /^(?:(?:tiny|medium|long)?text|varchar\((?:[89]\d\d|\d{4,})\))/

/** A column that a condition names: works.artist, also with its database before. */
function columnIn(text: string, asked: Asked): { name: string; relation: string; type: string } | null {
  const [, relation = '', name = ''] = /^(?:[\p{L}\p{N}_$]+\.)?([\p{L}\p{N}_$]+)\.([\p{L}\p{N}_$]+)$/u.exec(text) ?? []
  const type = asked.tables.get(tableOf(relation, asked) ?? '')?.get(name)
  return type === undefined ? null : { name, relation, type }
}

interface Key {
  column: string
  isRange: boolean
}

/** The key for one term of a condition; null if no index finds its rows. */
function keyOf(term: string, { relation }: Step, asked: Asked): Key | null {
  const keyFrom = (name: string, values: readonly string[], isRange: boolean, ofType = /./): Key | null => {
    const column = columnIn(name, asked)
    if (column === null || column.relation !== relation || !ofType.test(column.type)) return null
    const [, form] = literals.find(([type]) => type.test(column.type)) ?? []
    const isFound = (value: string) => {
      const other = columnIn(value, asked)
      if (other === null) return form?.test(unwrapped(value)) === true
      return other.relation !== relation && other.type === column.type
    }
    if (!values.every(isFound)) return null
    return { column: `\`${column.name}\`${longText.test(column.type) ? '(100)' : ''}`, isRange }
  }
  const text = unwrapped(term)
  const [, name = '', is = '', value = ''] = /^(\S+) (is null|in|between|like)\b ?(.*)$/s.exec(text) ?? []
  if (is === 'is null') return keyFrom(name, [], false)
  if (is === 'in') return keyFrom(name, parts(value, ','), false)
  if (is === 'between') return keyFrom(name, value.split(' AND '), true)
  if (is === 'like') return /^'[^%_\\]/.test(value) ? keyFrom(name, [value], true, /char|text/) : null
  const [, left = '', operator = '', right = ''] = /^(.+?) (=|<=?|>=?) (.+)$/s.exec(text) ?? []
  return keyFrom(left, [right], operator !== '=') ?? keyFrom(right, [left], operator !== '=')
}

function indexesFor(step: Step, asked: Asked): string[] {
  const terms = termsOf(step.filter ?? '')
  const [only = ''] = terms
  const alternatives = parts(only, ' or ')
  const isAny = terms.length === 1 && alternatives.length > 1
  const keys = (isAny ? alternatives : terms).map(term => keyOf(term, step, asked))
  if (!keys.every(key => key !== null)) return []
  const columns = (isRange: boolean) => keys.filter(key => key.isRange === isRange).map(({ column }) => column)
  if (isAny) return [...new Set(keys.map(({ column }) => column))]
  const equal = [...step.lookedUp.map(name => `\`${name}\``), ...columns(false)]
  const ranges = new Set(columns(true))
  return ranges.size > 1 ? [] : [[...new Set([...equal, ...ranges])].join(', ')]
}

/** What must all be true, in the form that the splitter of PostgreSQL's conditions reads. */
function termsOf(condition: string): string[] {
  const plain = condition
    .replaceAll('`', '')
    .replaceAll("\\'", "''")
    .replaceAll('<cache>', '')
    .replace(/ between (.+?) and /gs, ' between $1 AND ')
  const split = (text: string): string[] => {
    const terms = parts(text, ' or ').length > 1 ? [text] : parts(text, ' and ')
    return terms.length > 1 ? terms.flatMap(split) : terms
  }
  return split(plain)
}
