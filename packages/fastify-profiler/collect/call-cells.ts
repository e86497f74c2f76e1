import { amountOf, type CallNode } from './call-tree.ts'

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
    .map(worker)
    .map(call => ({ call, share: total > 0 ? amountOf([call]) / total : 0 }))
    .filter(({ share }) => share >= narrowest)
    .sort((one, other) => other.share - one.share)
    .map(({ call, share }) => {
      const cell = { call, row, start, share }
      start += share
      return cell
    })
}

/** The call that works: down from one of a library while nearly all of it is one call, as Fastify nests hooks. */
function worker(call: CallNode): CallNode {
  if (call.kind === 'own') return call
  const least = amountOf([call]) * passedOn
  const next = call.children.find(child => least > 0 && amountOf([child]) >= least)
  return next === undefined ? call : worker(next)
}

function countOf(calls: readonly CallNode[]): number {
  return calls.reduce((sum, { children }) => sum + 1 + countOf(children), 0)
}
