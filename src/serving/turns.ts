import { AsyncResource } from 'node:async_hooks'
import { performance } from 'node:perf_hooks'
import { longestTurn, turnSlice } from './limits.ts'

/** Starts a request that has waited. It is late if it was not started within longestTurn. */
export type Begin = (isLate: boolean) => void

/** The precision of the start of a turn, in milliseconds. */
const precision = 50

/** The time of the first request since the timer last fired. Undefined if there was none. */
let began: number | undefined
// Fires between two turns, later if one takes long. Only started by requests, so that an idle process stays asleep.
const timer = setTimeout(() => {
  began = undefined
}, precision).unref()

const waiting: Array<{ begin: Begin; since: number }> = []

// Bound, or they would run in the async context of a request, and the timer would keep it alive.
const restartTimer = AsyncResource.bind(() => {
  timer.refresh()
})
const startWaiting = AsyncResource.bind(() => {
  // Those that begin to wait meanwhile get the next turn, or one connection could fill this one.
  for (let left = waiting.length; left > 0 && elapsed() < turnSlice; left--) {
    const first = waiting.shift()
    first?.begin(performance.now() - first.since >= longestTurn)
  }
  if (waiting.length > 0) setImmediate(startWaiting)
})

/** Milliseconds since the first request of this turn of the event loop. */
export function elapsed(): number {
  const now = performance.now()
  if (began === undefined) {
    began = now
    restartTimer()
  }
  return now - began
}

/** Whether a request may start in this turn. */
export function mayStart(): boolean {
  return waiting.length === 0 && elapsed() < turnSlice
}

/** Starts a request in a later turn, after those that wait already. */
export function startLater(begin: Begin): void {
  if (waiting.length === 0) setImmediate(startWaiting)
  waiting.push({ begin, since: began ?? performance.now() })
}
