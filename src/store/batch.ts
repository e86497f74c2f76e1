import { setImmediate as turn } from 'node:timers/promises'

interface Batch<Value> {
  keys: string[]
  values: Promise<ReadonlyMap<string, Value>>
}

/**
 * Loads together what is asked for in one turn of the event loop: a query has a price of its own, and where one host is
 * called for the first time, others are.
 * @param load what there is of these keys, of which some may be the same
 * @param most how many keys may be loaded at once now
 * @returns loads one key; undefined where there is nothing
 */
export function inBatches<Value> (load: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>, most: () => number): (key: string) => Promise<Value | undefined> {
  let next: Batch<Value> | undefined

  return async key => {
    next ??= begin()
    const { keys, values } = next
    if (keys.push(key) >= most()) next = undefined
    return (await values).get(key)
  }

  function begin (): Batch<Value> {
    const keys: string[] = []
    return { keys, values: loadAfterTurn(keys) }
  }

  async function loadAfterTurn (keys: readonly string[]): Promise<ReadonlyMap<string, Value>> {
    await turn()
    if (next?.keys === keys) next = undefined
    return await load(keys)
  }
}
