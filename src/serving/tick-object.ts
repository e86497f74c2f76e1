// Keeps process.nextTick(), which a request uses some ten times, fast on Node 20.
import { executionAsyncResource } from 'node:async_hooks'

/**
 * One of the objects that Node makes for each process.nextTick(), kept alive as long as the process. If a garbage
 * collection finds none, V8 drops their hidden class and makes them slowly from then on. Import this before all else.
 */
export const tickObject: Promise<object> = new Promise(resolve => {
  // A tick's async resource is that object.
  process.nextTick(() => {
    resolve(executionAsyncResource())
  })
})
