import { isObject, listOf, propertyOf, read } from '../../core/foreign-value.ts'

/** A step of a plan. Row counts are totals over all loops. */
export interface PlanNode {
  /** "Seq Scan", "Index Scan", "Sort". */
  type: string
  depth: number
  relation: string | null
  schema: string | null
  index: string | null
  filter: string | null
  /** The rows that the planner expects. */
  expected: number
  /** The rows that there were; null unless the query has run. */
  actual: number | null
  /** Rows that the filter has dropped; null unless the query has run. */
  dropped: number | null
  /** Milliseconds, including the steps below; null unless the query has run. */
  time: number | null
  /** Kilobytes that a sort has written to disk; null if none. */
  spilled: number | null
}

/** Reads the answer of EXPLAIN (FORMAT JSON), depth first. Throws if it is none. */
export function planIn(rows: readonly unknown[]): PlanNode[] {
  const [row] = rows
  const root = propertyOf(listOf(propertyOf(row, 'QUERY PLAN'))[0], 'Plan')
  if (!isObject(root)) throw new Error('The database has sent no plan.')
  const nodes: PlanNode[] = []
  addNode(root, 0, nodes)
  return nodes
}

function addNode(node: object, depth: number, nodes: PlanNode[]): void {
  const text = (name: string) => {
    const value = read(node, name)
    return typeof value === 'string' ? value : null
  }
  const number = (name: string) => {
    const value = read(node, name)
    return typeof value === 'number' ? value : null
  }
  const loops = number('Actual Loops') ?? 1
  const times = (value: number | null) => (value === null ? null : value * loops)
  nodes.push({
    type: text('Node Type') ?? '',
    depth,
    relation: text('Relation Name'),
    schema: text('Schema'),
    index: text('Index Name'),
    filter: text('Filter'),
    expected: (number('Plan Rows') ?? 0) * loops,
    actual: times(number('Actual Rows')),
    dropped: times(number('Rows Removed by Filter')),
    time: times(number('Actual Total Time')),
    spilled: text('Sort Space Type') === 'Disk' ? number('Sort Space Used') : null,
  })
  for (const child of listOf(read(node, 'Plans'))) if (isObject(child)) addNode(child, depth + 1, nodes)
}

/** What a plan means. */
export interface Verdict {
  tone: 'warning' | 'neutral'
  claim: string
  /** What to do about it; empty if nothing is to be done. */
  remedy: string
  /** A statement that would help; null if there is none. */
  sql: string | null
}

/** Reading fewer rows of a table costs little, index or not. */
const manyRows = 1000

/** A scan that keeps more of its table than this part is no worse than an index. */
const smallPart = 0.1

/** Estimates that are wrong by this factor make the planner choose badly. */
const wrongBy = 10

/**
 * Says what a plan means.
 * @param sizes the number of rows of each table by its name, as far as the database knows them
 */
export function verdictsOf(nodes: readonly PlanNode[], sizes: ReadonlyMap<string, number>): Verdict[] {
  const troubles = nodes.flatMap(node => [...scanned(node, sizes), ...misjudged(node), ...spilled(node)])
  if (troubles.length > 0) return troubles
  const indexes = [...new Set(nodes.flatMap(({ index }) => index ?? []))]
  const claim = indexes.length > 0 ? `It uses ${indexes.join(', ')}.` : 'It reads no large table to find a few rows.'
  return [{ tone: 'neutral', claim, remedy: '', sql: null }]
}

function scanned({ type, relation, filter, expected, actual, dropped }: PlanNode, sizes: ReadonlyMap<string, number>) {
  if (!type.endsWith('Seq Scan') || relation === null || filter === null) return []
  const found = actual ?? expected
  const size = dropped === null ? (sizes.get(relation) ?? 0) : dropped + found
  if (size < manyRows || found > size * smallPart) return []
  const columns = columnsIn(filter)
  return [
    {
      tone: 'warning' as const,
      claim: `Reads all ${exact(size)} rows of ${relation} to find ${exact(found)}.`,
      remedy: columns.length > 0 ? 'An index would find them at once:' : '',
      sql: columns.length > 0 ? `create index on ${relation} (${columns.join(', ')})` : null,
    },
  ]
}

/**
 * The columns that a filter compares with a value: those for equality, or else the first other one. Empty if the filter
 * has alternatives or computes something, where an index of columns may not help.
 */
function columnsIn(filter: string): string[] {
  if (/ OR |->|\w\(/.test(filter)) return []
  const compared = [...filter.matchAll(/(?<![:\w])(?:\w+\.)?([a-z_]\w*)\)?(?:::[\w ]+)? (=|<|>|<=|>=) /gi)]
  const equal = compared.filter(([, , operator]) => operator === '=')
  const columns = (equal.length > 0 ? equal : compared.slice(0, 1)).map(([, column = '']) => column)
  return [...new Set(columns)]
}

/** Only where there were more rows than expected: a step that found fewer may have been stopped early, by a LIMIT. */
function misjudged({ type, relation, expected, actual }: PlanNode) {
  if (actual === null || actual < manyRows || actual / Math.max(1, expected) < wrongBy) return []
  const where = relation === null ? `from its ${type}` : `of ${relation}`
  return [
    {
      tone: 'warning' as const,
      claim: `Expected ${exact(expected)} rows ${where}, and got ${exact(actual)}.`,
      remedy: 'The statistics may be old.',
      sql: relation === null ? null : `analyze ${relation}`,
    },
  ]
}

function spilled({ spilled, actual }: PlanNode) {
  if (spilled === null || actual === null) return []
  return [
    {
      tone: 'warning' as const,
      claim: `Sorting ${exact(actual)} rows wrote ${exact(spilled)} kB to disk.`,
      remedy: 'An index in this order, a limit, or more work_mem would keep it in memory.',
      sql: null,
    },
  ]
}

function exact(number: number): string {
  return Math.round(number).toLocaleString('en')
}
