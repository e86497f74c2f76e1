/** Measures process.nextTick() after a garbage collection with no tick pending, with and without tick-object.ts. */
import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

const many = 300_000

if (isMainThread) {
  for (const keeps of [false, true]) {
    // A worker each, because every thread has its own V8 state.
    const [nanoseconds]: unknown[] = await once(new Worker(new URL(import.meta.url), { workerData: keeps }), 'message')
    console.log(
      `${keeps ? 'With it:' : 'Without tick-object.ts:'} ${Number(nanoseconds).toFixed(0)} ns, ` +
        `Node ${process.versions.node}`,
    )
  }
} else {
  if (workerData === true) await import('../src/serving/tick-object.ts')
  // Lets V8 learn the shape of tick objects and forget it again.
  for (let times = 0; times < 20; times++) {
    await tick(1000)
    await turn()
    global.gc?.()
  }
  await tick(many)
  const began = performance.now()
  await tick(many)
  parentPort?.postMessage(((performance.now() - began) / many) * 1e6)
}

/** Runs this number of ticks, one after another. */
function tick(count: number): Promise<void> {
  return new Promise(resolve => {
    function next(left: number): void {
      if (left === 0) resolve()
      else process.nextTick(next, left - 1)
    }
    next(count)
  })
}
