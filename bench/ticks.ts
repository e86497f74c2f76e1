/** What process.nextTick() costs after memory was collected while nothing was waiting, where one of its objects is kept and where none is. */
import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

const many = 300_000

if (isMainThread) {
  for (const keeps of [false, true]) {
    // What V8 knows of them each thread has for itself.
    const [nanoseconds]: unknown[] = await once(new Worker(new URL(import.meta.url), { workerData: keeps }), 'message')
    console.log(
      `${keeps ? 'One is kept:' : 'None is kept:'} ${Number(nanoseconds).toFixed(0)} ns, Node ${process.versions.node}`,
    )
  }
} else {
  if (workerData === true) await import('../src/serving/tick-object.ts')
  // Time for V8 to learn their shape, and to forget it.
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

/** So many ticks, one after another. */
function tick(count: number): Promise<void> {
  return new Promise(resolve => {
    function next(left: number): void {
      if (left === 0) resolve()
      else process.nextTick(next, left - 1)
    }
    next(count)
  })
}
