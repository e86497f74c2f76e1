import type { HeapProfiler, Profiler, Runtime } from 'node:inspector'
import { pathOf } from '../base/location.ts'
import type { FrameKind, Location } from '../base/profile.ts'
import { isProfilerFile } from '../base/profiler-files.ts'
import type { RawSamples } from '../watch/sampler.ts'
import { kindOf } from './parse-frame.ts'

/** A function in the tree of calls. Amounts are milliseconds or bytes. */
export interface CallNode {
  /** Empty if it has no name. */
  function: string
  kind: FrameKind
  /** Where it begins; null for what is in no file. */
  location: Location | null
  /** Its own amount, without that of the functions that it calls. */
  self: number
  /** The number of samples at each of its lines; none for allocations. */
  ticks: readonly Profiler.PositionTickInfo[]
  children: CallNode[]
}

/**
 * The outermost functions of the tree that samples have shown. Waiting is none of them.
 * @param longest the milliseconds that all can have taken
 */
export function outermostCalls(raw: RawSamples, longest = Infinity): CallNode[] {
  return 'head' in raw ? raw.head.children.map(ofAllocations) : ofTime(raw, longest)
}

/** The amount of functions with that of all that they call. */
export function amountOf(calls: readonly CallNode[]): number {
  return calls.reduce((sum, { children, self }) => sum + self + amountOf(children), 0)
}

function ofAllocations({ callFrame, children, selfSize }: HeapProfiler.SamplingHeapProfileNode): CallNode {
  return { ...describe(callFrame), self: selfSize, ticks: [], children: children.map(ofAllocations) }
}

function ofTime(profile: Profiler.Profile, longest: number): CallNode[] {
  const { endTime, nodes, samples = [], startTime, timeDeltas = [] } = profile
  const busy = busyNodes(nodes)
  const hits = busy.reduce((sum, { hitCount = 0 }) => sum + hitCount, 0)
  const busyIds = new Set(busy.map(({ id }) => id))
  const rest = Math.max(0, endTime - startTime - timeDeltas.reduce((sum, delta) => sum + delta, 0))
  // A sample lasts until the next one, and the first while V8 starts. Some last far too long: all count the same.
  const lasted = (id: number, index: number) => (index > 0 && busyIds.has(id) ? (timeDeltas[index + 1] ?? rest) : 0)
  const time = samples.reduce((sum, id, index) => sum + lasted(id, index), 0)
  const each = hits > 0 ? Math.min(longest, Math.max(0, time) / 1000) / hits : 0
  const nodesById = new Map(busy.map(node => [node.id, node]))
  const calledBy = ({ children = [] }: Profiler.ProfileNode): CallNode[] =>
    children
      .flatMap(id => nodesById.get(id) ?? [])
      .map(node => ({
        ...describe(node.callFrame),
        self: (node.hitCount ?? 0) * each,
        ticks: node.positionTicks ?? [],
        children: calledBy(node),
      }))
  // The first node is the root.
  const [root] = nodes
  return root === undefined ? [] : calledBy(root)
}

/** The nodes of what the request may have done: without waiting, and without the inspector's own work. */
function busyNodes(nodes: readonly Profiler.ProfileNode[]): Profiler.ProfileNode[] {
  const left = new Set<number>()
  // A node comes after the one that calls it.
  for (const { callFrame, children = [], id } of nodes) {
    if (isIdle(callFrame) || isSampler(callFrame)) left.add(id)
    if (left.has(id)) for (const child of children) left.add(child)
  }
  return nodes.filter(({ id }) => !left.has(id))
}

function isIdle({ functionName, url }: Runtime.CallFrame): boolean {
  return functionName === '(idle)' && url === ''
}

/** Starting and stopping the inspector. */
function isSampler({ functionName, url }: Runtime.CallFrame): boolean {
  return (functionName === 'startSampler' || functionName === 'askInspector') && isProfilerFile(pathOf(url))
}

function describe({ columnNumber, functionName, lineNumber, url }: Runtime.CallFrame) {
  if (url === '') return { function: functionName, kind: 'node' as const, location: null }
  const file = pathOf(url)
  return {
    function: functionName,
    // The profiler's own functions are no code of the application, even if the package is linked.
    kind: isProfilerFile(file) ? ('module' as const) : kindOf(file),
    location: { file, line: lineNumber + 1, column: columnNumber + 1 },
  }
}
