/** What finding the caller of a query costs, in µs, 25 frames below Node. The fastest of many runs. */
import { findCaller } from '#profiler/core/call-site'

const runs = 200
const calls = 200

/** As if the whole stack were captured. */
function wholeStack(below: () => unknown): unknown {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 64
  const holder: { stack?: string } = {}
  Error.captureStackTrace(holder, below)
  Error.stackTraceLimit = stackTraceLimit
  return holder.stack
}

const subjects: Record<string, () => unknown> = {
  'the nearest frame of the application': function nearest() {
    return findCaller(nearest)
  },
  'the whole stack as text': function whole() {
    return wholeStack(whole)
  },
}

function below(frames: number, call: () => unknown): unknown {
  return frames === 0 ? call() : below(frames - 1, call)
}

const best = new Map<string, number>()
for (let run = 0; run < runs; run++) {
  for (const [name, call] of Object.entries(subjects)) {
    const before = performance.now()
    for (let n = 0; n < calls; n++) below(25, call)
    const took = ((performance.now() - before) * 1000) / calls
    best.set(name, Math.min(took, best.get(name) ?? Infinity))
  }
}
for (const [name, took] of best) console.log(`${took.toFixed(1)} µs  ${name}`)
