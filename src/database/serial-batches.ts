// In a flood of made-up hosts, most queries are saved, and the others take one connection.
import { unavailable } from './failures.ts'

/** Each key keeps its request in memory, and more could not be answered in time. */
const mostWaiting = 10_000

/**
 * Loads keys with one query at a time. Keys requested during a query wait, and the next query loads all of them. So a
 * flood of keys takes one connection of the pool.
 * @param load loads the values of these keys, which may contain duplicates
 * @returns a function that loads one key, and resolves to undefined if the key has no value
 */
export function inSerialBatches<Value>(
  load: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
): (key: string) => Promise<Value | undefined> {
  let waiting: string[] = []
  let next: Promise<ReadonlyMap<string, Value>> | undefined
  let current: Promise<unknown> | undefined

  return async key => {
    if (waiting.length >= mostWaiting) {
      throw unavailable(new Error(`${mostWaiting} keys are already waiting for a query.`))
    }
    waiting.push(key)
    next ??= loadWaiting()
    return (await next).get(key)
  }

  async function loadWaiting(): Promise<ReadonlyMap<string, Value>> {
    let keys: readonly string[]
    try {
      // If the current query fails, the waiting keys fail with it: they have waited just as long.
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
