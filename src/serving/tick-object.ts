// Keeps process.nextTick() at 0.3 µs instead of 1.6 (Node 20), some ten times a request: `npm run -w bench ticks`.
import { executionAsyncResource } from 'node:async_hooks'

/**
 * One of the objects that Node makes for each process.nextTick(), kept for as long as the process lives. If memory is
 * collected while there is none, V8 forgets their shape and makes them slowly from then on. A process imports this before
 * anything else.
 */
export const tickObject: Promise<object> = new Promise(resolve => {
  // The resource of a tick is that object itself.
  process.nextTick(() => {
    resolve(executionAsyncResource())
  })
})
