import { type Immutable, indexesFor, parts, type Table, withoutTexts } from './filter.ts'
import { childrenOf, type PlanNode } from './plan.ts'

/** What a plan means. */
export interface Verdict {
  tone: 'warning' | 'neutral'
  claim: string
  /** What to do about it; empty if nothing is to be done. */
  remedy: string
  /** A statement that would help; null if there is none. */
  sql: string | null
}

/** What the database knows of the tables of a plan. */
export interface Schema {
  /** By name. */
  tables: ReadonlyMap<string, Table>
  immutable: Immutable
}

/** Reading fewer rows of a table costs little, index or not. */
export const manyRows = 1000

/** An index that finds fewer rows at a time leaves little to a filter. */
const fewRows = 10

/** A scan that keeps more of its table than this part is no worse than an index. */
const smallPart = 0.1

/** Estimates that are wrong by this factor make the planner choose badly. */
const wrongBy = 10

export function verdictsOf(nodes: readonly PlanNode[], schema: Schema): Verdict[] {
  const troubles = [
    ...scans(nodes).flatMap(scan => scanned(scan, schema)),
    ...nodes.flatMap(node => [
      ...filteredAfterIndex(node, nodes, schema),
      ...joined(node, nodes, schema),
      ...filteredAfterJoin(node, nodes),
      ...sorted(node, nodes, schema),
      ...skipped(node, nodes),
      ...misjudged(node),
      ...spilled(node),
    ]),
  ]
  return troubles.length > 0 ? troubles : [soundVerdict(nodes)]
}

export function soundVerdict(nodes: ReadonlyArray<Pick<PlanNode, 'index'>>): Verdict {
  const indexes = [...new Set(nodes.flatMap(({ index }) => index ?? []))]
  const claim = `No missing index found.${indexes.length > 0 ? ` It uses ${indexes.join(', ')}.` : ''}`
  return { tone: 'neutral', claim, remedy: '', sql: null }
}

export function warning(claim: string, remedy: string, sql: string | null = null): Verdict[] {
  return [{ tone: 'warning', claim, remedy, sql }]
}

/** Sequential scans with one filter: of a table, or of partitions of one. */
interface Scan {
  nodes: PlanNode[]
  first: PlanNode
  filter: string
}

function scans(nodes: readonly PlanNode[]): Scan[] {
  const found: Scan[] = []
  for (const node of nodes) {
    const { alias, filter, relation, type } = node
    if (!type.endsWith('Seq Scan') || relation === null || filter === null) continue
    // Partitions have aliases that differ in a number.
    const same = found.find(
      scan => plainFilter(scan.filter, scan.first) === plainFilter(filter, node) && scan.first.alias !== alias,
    )
    if (same === undefined) found.push({ nodes: [node], first: node, filter })
    else same.nodes.push(node)
  }
  return found
}

function plainFilter(filter: string, { alias }: PlanNode): string {
  return alias === null ? filter : filter.replaceAll(`${alias}.`, '')
}

function scanned({ nodes, first, filter }: Scan, { immutable, tables }: Schema): Verdict[] {
  const relation = first.relation ?? ''
  const whole = tables.get(relation) ?? { name: relation, rows: 0, parent: null, columns: {} }
  const name = whole.parent ?? whole.name
  const ran = nodes.every(({ actual }) => actual !== null)
  const found = sum(nodes, ({ actual, expected }) => actual ?? expected)
  const size = sum(nodes, ({ actual, dropped, expected, relation }) =>
    dropped === null ? (tables.get(relation ?? '')?.rows ?? 0) : dropped + (actual ?? expected),
  )
  if (size < manyRows || found > size * smallPart) return []
  const loops = first.loops ?? 1
  const often = loops > 1 ? ` ${exact(loops)} times` : ''
  const partitions =
    whole.parent === null ? '' : ` in ${nodes.length === 1 ? 'a partition' : `${nodes.length} partitions`}`
  const claim = `Reads all ${exact(size / Math.max(1, loops))} rows of ${name}${partitions}${often} to find ${ran ? '' : 'about '}${exact(found)}.`
  return advice(claim, filter, name, indexesFor(filter, whole, first.alias, immutable))
}

/** The verdict with the statements that make indexes, or with what to do where none would help. */
function advice(claim: string, filter: string, table: string, indexes: readonly string[]): Verdict[] {
  if (indexes.length === 0) return warning(claim, withoutIndex(filter))
  const remedy =
    indexes.length === 1
      ? 'An index would find them at once:'
      : 'An index for each alternative would find them at once:'
  return warning(claim, remedy, indexes.map(keys => `create index on ${quoted(table)} ${keys}`).join('; '))
}

function withoutIndex(filter: string): string {
  if (/ !~~|<>|\bNOT /.test(filter)) {
    return 'An index does not find what differs from a value. One with this condition (create index … where …) does.'
  }
  if (/ ~~\*? '%/.test(filter)) {
    return 'An index cannot find what may stand anywhere in a text. One of trigrams can (extension pg_trgm).'
  }
  if (/ ~~\* /.test(filter)) return 'An index does not find ILIKE. One on lower(…) finds LIKE with lower(…).'
  if (/~~ \$|~~ '_/.test(filter)) return 'An index helps only patterns whose beginning is known when it is planned.'
  if (/\)::(?:date|text|timestamp)|\w\(/.test(filter)) {
    return 'What is computed from a column has no index. Compare the column itself, for example with a range.'
  }
  return ''
}

/** An index that finds many rows, most of which a filter throws away. */
function filteredAfterIndex(node: PlanNode, nodes: readonly PlanNode[], { immutable, tables }: Schema): Verdict[] {
  const { actual, alias, dropped, filter, relation, type } = node
  const table = tables.get(relation ?? '')
  if (filter === null || table === undefined || type.endsWith('Seq Scan')) return []
  const [below] = childrenOf(nodes, node)
  const lookup = below?.type === 'Bitmap Index Scan' ? below : node
  const kept = actual ?? node.expected
  const read = dropped !== null ? dropped + kept : lookup === node ? 0 : lookup.expected
  const { condition } = lookup
  // What is looked up for each row of a join is few rows each time.
  const each = read / Math.max(1, node.loops ?? 1)
  if (each < fewRows || read < manyRows || kept > read * smallPart || condition === null) return []
  const claim = `${lookup.index ?? 'An index'} finds ${exact(read)} rows of ${table.name}, and a filter keeps ${actual === null ? 'about ' : ''}${exact(kept)}.`
  const both = `(${condition} AND ${filter})`
  const name = table.parent ?? table.name
  return advice(claim, filter, name, indexesFor(both, table, alias, immutable))
}

/** A table that is read as a whole to join a few rows. */
function joined(node: PlanNode, nodes: readonly PlanNode[], { immutable, tables }: Schema): Verdict[] {
  if (!node.type.endsWith('Join') || node.condition === null) return []
  const sides = childrenOf(nodes, node)
  return sides.flatMap(side => {
    const other = sides.find(one => one !== side)
    const scan = side.type === 'Hash' ? childrenOf(nodes, side)[0] : side
    const table = tables.get(scan?.relation ?? '')
    if (other === undefined || scan === undefined || table === undefined || scan.filter !== null) return []
    const few = other.actual ?? other.expected
    // A lookup costs about ten times as much as a row of a scan.
    const isCheaper = scan.type.endsWith('Seq Scan') && table.rows >= manyRows && few * wrongBy < scan.costs[1]
    const indexes = indexesFor(node.condition ?? '', table, scan.alias, immutable)
    if (!isCheaper || indexes.length !== 1) return []
    const claim = `Reads all ${exact(table.rows)} rows of ${table.name} to join them to ${other.actual === null ? 'about ' : ''}${exact(few)}.`
    return advice(claim, '', table.parent ?? table.name, indexes)
  })
}

/** Alternatives on the columns of both sides of a join, which no index finds. */
function filteredAfterJoin(node: PlanNode, nodes: readonly PlanNode[]): Verdict[] {
  const { actual, filter, type } = node
  const sides = childrenOf(nodes, node)
  if (sides.length !== 2 || filter === null || !/(?:Join|Nested Loop)$/.test(type)) return []
  if (!parts(filter, ' AND ').some(isOrOfTables)) return []
  const read = Math.max(...sides.map(side => side.actual ?? side.expected))
  const kept = actual ?? node.expected
  if (read < manyRows || kept > read * smallPart) return []
  const claim = `Joins ${exact(read)} rows to keep ${actual === null ? 'about ' : ''}${exact(kept)}: an OR compares columns of both sides.`
  return warning(claim, 'One statement for each alternative, joined by UNION, can look each up in an index.')
}

/** Whether a term has alternatives that name columns of several tables. A filter after an outer join may name one. */
function isOrOfTables(term: string): boolean {
  const names = [...withoutTexts(term).matchAll(/([a-z_]\w*)"?\."?[a-z_]/gi)].map(([, name]) => name)
  return parts(term, ' OR ').length > 1 && new Set(names).size > 1
}

/** The first rows of a table that is sorted as a whole. */
function sorted(limit: PlanNode, nodes: readonly PlanNode[], { immutable, tables }: Schema): Verdict[] {
  if (limit.type !== 'Limit') return []
  const sort = lineBelow(limit, nodes).find(({ type }) => type === 'Sort')
  const scan = sort && lineBelow(sort, nodes).find(({ relation }) => relation !== null)
  const table = tables.get(scan?.relation ?? '')
  if (sort === undefined || scan === undefined || table === undefined) return []
  const rows = scan.actual ?? scan.expected
  const returned = limit.actual ?? limit.expected
  if (rows < manyRows || returned > rows * smallPart) return []
  const claim = `Sorts ${scan.actual === null ? 'about ' : ''}${exact(rows)} rows of ${table.name} to return the first ${exact(returned)}.`
  const keys = sort.sortKeys.map(key => (scan.alias === null ? key : key.replace(`${scan.alias}.`, '')))
  const isPlain = keys.every(key => Object.hasOwn(table.columns, key.replace(/ (?:DESC|NULLS \w+)/g, '')))
  const filter = [scan.condition, scan.filter].filter(part => part !== null).join(' AND ')
  // An index is read in both directions.
  const order = keys.every(key => key.endsWith(' DESC')) ? keys.map(key => key.slice(0, -' DESC'.length)) : keys
  const indexes = isPlain
    ? filter === ''
      ? [`(${order.join(', ')})`]
      : indexesFor(`(${filter})`, table, scan.alias, immutable, order)
    : []
  if (indexes.length !== 1) return warning(claim, '')
  const sql = `create index on ${quoted(table.parent ?? table.name)} ${indexes[0]}`
  return warning(claim, 'An index has them in this order:', sql)
}

/** The steps below one, as long as each has only one. */
function lineBelow(node: PlanNode, nodes: readonly PlanNode[]): PlanNode[] {
  const [child, ...others] = childrenOf(nodes, node)
  return child === undefined || others.length > 0 ? [] : [child, ...lineBelow(child, nodes)]
}

/** Rows that are made only to be skipped by an OFFSET. */
function skipped(limit: PlanNode, nodes: readonly PlanNode[]): Verdict[] {
  const [below] = childrenOf(nodes, limit)
  if (limit.type !== 'Limit' || below === undefined) return []
  const [start, end] = below.costs
  const part = end > start ? (limit.costs[0] - start) / (end - start) : 0
  const rows = limit.actual !== null && below.actual !== null ? below.actual - limit.actual : part * below.expected
  if (rows < manyRows) return []
  return warning(
    `Reads about ${exact(rows)} rows only to skip them.`,
    'Begin where the page before has ended: where (key) > (its last key) order by key limit n.',
  )
}

/** Only where there were more rows than expected: a step that found fewer may have been stopped early, by a LIMIT. */
function misjudged({ type, relation, expected, actual }: PlanNode): Verdict[] {
  if (actual === null || actual < manyRows || actual / Math.max(1, expected) < wrongBy) return []
  const where = relation === null ? `from its ${type}` : `of ${relation}`
  const claim = `Expected ${exact(expected)} rows ${where}, and got ${exact(actual)}.`
  return warning(claim, 'The statistics may be old.', relation === null ? null : `analyze ${quoted(relation)}`)
}

function spilled({ spilled, actual, type }: PlanNode): Verdict[] {
  if (spilled === null || actual === null) return []
  const claim = `${type === 'Sort' ? 'Sorting' : 'Grouping'} ${exact(actual)} rows wrote ${exact(spilled)} kB to disk.`
  const index = type === 'Sort' ? 'An index in this order, a limit,' : 'A limit'
  return warning(claim, `${index} or more work_mem would keep it in memory.`)
}

function sum(nodes: readonly PlanNode[], of: (node: PlanNode) => number): number {
  return nodes.reduce((total, node) => total + of(node), 0)
}

export function exact(number: number): string {
  return Math.round(number).toLocaleString('en')
}

const reserved =
  /^(?:all|and|any|as|case|check|column|constraint|default|desc|do|else|end|from|grant|group|in|into|is|limit|not|null|offset|on|only|or|order|primary|references|select|table|then|to|union|unique|user|using|when|where|window|with)$/

/** A name as a statement has it. */
function quoted(name: string): string {
  return /^[a-z_][a-z0-9_$]*$/.test(name) && !reserved.test(name) ? name : `"${name.replaceAll('"', '""')}"`
}
