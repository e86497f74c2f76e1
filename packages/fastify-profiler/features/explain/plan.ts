import { isObject, listOf, propertyOf, read } from '../../core/foreign-value.ts'

/** Why a query has no plan, as a sentence. */
export class NoPlan extends Error {
  override readonly name = 'NoPlan'
}

/** A step of a plan. Row counts are totals over all loops and parallel workers. */
export interface PlanNode {
  /** "Seq Scan", "Index Scan", "Sort". */
  type: string
  depth: number
  relation: string | null
  schema: string | null
  /** What the statement calls the relation. */
  alias: string | null
  index: string | null
  filter: string | null
  /** What a scan looks up in its index, or how a join finds rows of the other side. */
  condition: string | null
  sortKeys: string[]
  /** The rows that the planner expects. */
  expected: number
  /** The planner's costs until the first row, and until the last. */
  costs: readonly [start: number, end: number]
  /** The rows that there were; null unless the query has run. */
  actual: number | null
  /** How often it ran; null unless the query has run, and for a part of a step that workers share. */
  loops: number | null
  /** Rows that the filter has dropped; null unless the query has run. */
  dropped: number | null
  /** Milliseconds, including the steps below; null unless the query has run. */
  time: number | null
  /** Kilobytes written to disk; null if none, or unless the query has run. */
  spilled: number | null
}

export type ShownNode = Pick<
  PlanNode,
  'type' | 'depth' | 'relation' | 'index' | 'filter' | 'expected' | 'actual' | 'time'
>

/** Reads the answer of EXPLAIN (FORMAT JSON), depth first. Throws if it is none. */
export function planIn(rows: readonly unknown[]): PlanNode[] {
  const [row] = rows
  const root = propertyOf(listOf(propertyOf(row, 'QUERY PLAN'))[0], 'Plan')
  if (!isObject(root)) throw new Error('The database has sent no plan.')
  const nodes: PlanNode[] = []
  addNode(root, 0, 0, nodes)
  return nodes
}

/** @param workers the parallel workers that run this step beside the server itself */
function addNode(node: object, depth: number, workers: number, nodes: PlanNode[]): void {
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
  const isParallel = read(node, 'Parallel Aware') === true
  nodes.push({
    type: text('Node Type') ?? '',
    depth,
    relation: text('Relation Name'),
    schema: text('Schema'),
    alias: text('Alias'),
    index: text('Index Name'),
    filter: text('Filter') ?? text('Join Filter'),
    condition: text('Index Cond') ?? text('Hash Cond') ?? text('Merge Cond'),
    sortKeys: listOf(read(node, 'Sort Key')).map(String),
    expected: (number('Plan Rows') ?? 0) * (isParallel ? shareOfWorkers(workers) : loops),
    costs: [number('Startup Cost') ?? 0, number('Total Cost') ?? 0],
    actual: times(number('Actual Rows')),
    loops: isParallel ? null : number('Actual Loops'),
    dropped: times(number('Rows Removed by Filter')),
    time: times(number('Actual Total Time')),
    spilled: text('Sort Space Type') === 'Disk' ? number('Sort Space Used') : number('Disk Usage') || null,
  })
  const below = number('Workers Planned') ?? workers
  for (const child of listOf(read(node, 'Plans'))) if (isObject(child)) addNode(child, depth + 1, below, nodes)
}

/** The factor from one worker's rows to all: the server itself helps, though less beside more workers. */
function shareOfWorkers(workers: number): number {
  return workers + Math.max(0, 1 - 0.3 * workers)
}

/** The steps right below one. */
export function childrenOf<Node extends Pick<PlanNode, 'depth'>>(nodes: readonly Node[], parent: Node): Node[] {
  const after = nodes.slice(nodes.indexOf(parent) + 1)
  const end = after.findIndex(({ depth }) => depth <= parent.depth)
  return after.slice(0, end === -1 ? undefined : end).filter(({ depth }) => depth === parent.depth + 1)
}
