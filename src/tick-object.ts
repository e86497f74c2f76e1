import { executionAsyncResource } from 'node:async_hooks'

/**
 * One of the objects that Node makes for each process.nextTick(), of which every request has some ten: here only to be
 * kept for as long as the process lives. Where there is none while all memory is collected, V8 forgets their shape, and
 * makes each several times as slowly from then on, which nothing mends: 2 µs a request (Node 20 and 24; bench/ticks.ts).
 * So it has to be loaded before a process does much else.
 */
export const tickObject: Promise<object> = new Promise(resolve => {
  // The resource of a tick is that object itself.
  process.nextTick(() => { resolve(executionAsyncResource()) })
})
