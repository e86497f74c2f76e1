import type { HeapProfiler, Profiler, Runtime } from 'node:inspector'
import { isProfilerFile, originalLocation, pathOf } from '../../core/call-site.ts'
import { type Frame, type Location, toMicroseconds } from '../../core/profile.ts'
import type { FunctionUse } from './samples.ts'
import { kindOf } from '../exceptions/describe-failures.ts'
import type { RawSamples } from './sampling.ts'

/** A function in the tree of calls. Amounts are milliseconds or bytes. */
export interface CallNode {
  /** Empty if it has no name. */
  function: string
  kind: Frame['kind']
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
  if (url === '') {
    // Code that `new Function` has made has lines: Fastify's serializers and validators, for example.
    if (lineNumber >= 0) {
      return { function: `${functionName} (generated code)`, kind: 'module' as const, location: null }
    }
    return {
      function: functionName === '(garbage collector)' ? garbageCollection : functionName,
      kind: 'node' as const,
      location: null,
    }
  }
  const file = pathOf(url)
  return {
    function: functionName,
    // The profiler's own functions are no code of the application, even if the package is linked.
    kind: isProfilerFile(file) ? ('module' as const) : kindOf(file),
    location: { file, line: lineNumber + 1, column: columnNumber + 1 },
  }
}

export const garbageCollection = 'garbage collection'

/** Narrower functions could not be seen. */
const narrowest = 0.003

/** The part that a call which only passes on leaves to another. */
const passedOn = 0.95

const cellsMost = 1000
const rowsMost = 60

/** A function as a cell of a picture. It lies below the function that has called it. */
export interface CallCell {
  call: CallNode
  /** Counted from 0, at the top. */
  row: number
  /** Parts of the whole, 0 to 1. */
  start: number
  share: number
}

export interface CallCells {
  cells: CallCell[]
  rows: number
  /** The number of functions that only pass on, are too narrow, or too many. */
  dropped: number
}

/**
 * Lays the calls below one out.
 * @param zoom the number of its cell, then that of one in the picture below it, and so on: "3.17"
 */
export function zoomedCells(calls: readonly CallNode[], zoom: string): CallCells {
  let picture = callCells(calls)
  for (const place of (zoom.match(/\d+/g) ?? []).slice(0, rowsMost)) {
    const cell = picture.cells[Number(place)]
    if (cell !== undefined) picture = callCells([cell.call])
  }
  return picture
}

/** Lays a tree of calls out, row by row, largest first. */
export function callCells(calls: readonly CallNode[]): CallCells {
  const total = amountOf(calls)
  const cells: CallCell[] = []
  let rows = 0
  let row = placed(calls, 0, 0, total)
  while (row.length > 0 && rows < rowsMost && cells.length < cellsMost) {
    cells.push(...row.slice(0, cellsMost - cells.length))
    rows++
    row = row.flatMap(({ call, row, start }) => placed(call.children, row + 1, start, total))
  }
  return { cells, rows, dropped: countOf(calls) - cells.length }
}

/** Functions side by side, without those that are too narrow. */
function placed(calls: readonly CallNode[], row: number, from: number, total: number): CallCell[] {
  let start = from
  return calls
    .map(working)
    .map(call => ({ call, share: total > 0 ? amountOf([call]) / total : 0 }))
    .filter(({ share }) => share >= narrowest)
    .sort((one, other) => other.share - one.share)
    .map(({ call, share }) => {
      const cell = { call, row, start, share }
      start += share
      return cell
    })
}

/** The call that works, below those of libraries that only pass on: nearly all of their time is in one child. */
function working(call: CallNode): CallNode {
  if (call.kind === 'own') return call
  const least = amountOf([call]) * passedOn
  const next = call.children.find(child => least > 0 && amountOf([child]) >= least)
  return next === undefined ? call : working(next)
}

function countOf(calls: readonly CallNode[]): number {
  return calls.reduce((sum, { children }) => sum + 1 + countOf(children), 0)
}

/** A function that has a place. */
export type Caller = Pick<CallNode, 'function'> & { location: Location }

interface Sum {
  call: CallNode
  caller: Caller | null
  amount: number
  /** The number of samples by line. */
  ticks: Map<number, number>
}

/** Adds amounts up by function. */
export class FunctionUses {
  readonly #sums = new Map<string, Sum>()

  /**
   * @param ticks the samples at the lines of the function
   * @param caller what has called it. Each caller has a sum of its own.
   */
  add(call: CallNode, amount: number, ticks: CallNode['ticks'] = [], caller: Caller | null = null): void {
    const key = JSON.stringify([call.function, call.location, caller?.location])
    const sum = this.#sums.get(key) ?? { call, caller, amount: 0, ticks: new Map<number, number>() }
    this.#sums.set(key, sum)
    sum.amount += amount
    for (const { line, ticks: count } of ticks) sum.ticks.set(line, (sum.ticks.get(line) ?? 0) + count)
  }

  largest(most: number): FunctionUse[] {
    return [...this.#sums.values()]
      .filter(({ amount }) => amount > 0)
      .sort((one, other) => other.amount - one.amount)
      .slice(0, most)
      .map(({ amount, call, caller, ticks }) => ({
        function: call.function,
        kind: call.kind,
        location: call.location === null ? null : originalLocation(hottestLine(call.location, ticks)),
        ...(caller !== null && { caller: { ...caller, location: originalLocation(caller.location) } }),
        amount: toMicroseconds(amount),
      }))
  }
}

/** The line with more than half of the samples; the function's first if there is none. */
function hottestLine(start: Location, ticks: ReadonlyMap<number, number>): Location {
  const all = [...ticks.values()].reduce((sum, count) => sum + count, 0)
  for (const [line, count] of ticks) {
    // V8 sometimes counts a line of another file, whose code was inlined.
    if (count > all / 2 && line > start.line) return { file: start.file, line, column: 1 }
  }
  return start
}

/** The application's functions, each with what it has called in libraries and in Node, largest first. */
export function chargedCode(calls: readonly CallNode[], most: number): FunctionUse[] {
  const uses = new FunctionUses()
  charge(calls, null, uses)
  return uses.largest(most)
}

/** @param payer the nearest function of the application that has called these; null if none has */
function charge(calls: readonly CallNode[], payer: CallNode | null, uses: FunctionUses): void {
  for (const call of calls) {
    const charged = call.kind === 'own' ? call : followsHook(call) ? null : payer
    if (charged !== null) uses.add(charged, call.self)
    charge(call.children, charged, uses)
  }
}

/** Whether the profiler goes on after a hook, which has called `done`: what follows is none of the hook's work. */
function followsHook({ function: name, location }: CallNode): boolean {
  return name === 'followedDone' && location !== null && isProfilerFile(location.file)
}
