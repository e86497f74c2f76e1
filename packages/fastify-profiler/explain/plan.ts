import { isObject, listOf, propertyOf, read } from '../base/foreign-value.ts'

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
