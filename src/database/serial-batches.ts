// Buys one query for some 26 made-up hosts of a flood, on one connection: `npm run show:flood`.
import { unavailable } from './failures.ts'

/** More keys could not be answered in time, and each keeps its request in memory. */
const mostWaiting = 10_000

/**
 * Loads keys with one query at a time. Keys that are asked for during a query wait, and the next query loads all of
 * them: a flood of keys takes one connection of the pool.
 * @param load what there is of these keys, some of which may be the same
 * @returns a function that loads one key; undefined where there is nothing
 */
export function inSerialBatches<Value>(
  load: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
): (key: string) => Promise<Value | undefined> {
  let waiting: string[] = []
  let next: Promise<ReadonlyMap<string, Value>> | undefined
  let current: Promise<unknown> | undefined

  return async key => {
    if (waiting.length >= mostWaiting) throw unavailable(new Error(`${mostWaiting} keys wait for a query already.`))
    waiting.push(key)
    next ??= loadWaiting()
    return (await next).get(key)
  }

  async function loadWaiting(): Promise<ReadonlyMap<string, Value>> {
    let keys: readonly string[]
    try {
      // If that query fails, so do those who waited for it: they have waited as long.
      await current
    } finally {
      keys = waiting
      waiting = []
      next = undefined
    }
    const values = load(keys)
    current = values
    try {
      return await values
    } finally {
      if (current === values) current = undefined
    }
  }
}
