import { executionAsyncResource } from 'node:async_hooks'

/**
 * One of the objects that Node makes for each process.nextTick(), of which every request has some ten: the current
 * resource of a tick is its object itself. It is kept for as long as the process lives. Where there is none while all
 * memory is collected, V8 forgets their shape, and makes each several times as slowly from then on, which nothing mends:
 * 2 µs a request (Node 20 and 24; bench/ticks.ts). So it has to be loaded before a process does much else.
 */
export const tickObject: Promise<object> = new Promise(resolve => {
  process.nextTick(() => { resolve(executionAsyncResource()) })
})
