import type { Location } from '../base/profile.ts'
import type { Pair } from './comparison.ts'

/** Two items that belong together, or one without a counterpart. */
export interface Match<Item> extends Pair<Item> {
  /** B's, or A's if there is no other. */
  either: Item
}

/** Keys to match by, the strictest first. Null: cannot be matched by this one. */
type Keys<Item> = ReadonlyArray<(item: Item) => readonly unknown[] | null>

/**
 * Pairs the items of two requests that have an equal key. Those left over are matched by the next key, since a line
 * moves when code above it changes.
 */
export function match<Item>(a: readonly Item[], b: readonly Item[], keys: Keys<Item>): Array<Match<Item>> {
  const pairs: Array<Match<Item>> = []
  let leftA = [...a]
  let leftB = [...b]
  for (const keyOf of keys) {
    const waiting = new Map<string, Item[]>()
    for (const item of leftA) {
      const key = keyOf(item)
      if (key === null) continue
      const text = JSON.stringify(key)
      const same = waiting.get(text)
      if (same === undefined) waiting.set(text, [item])
      else same.push(item)
    }
    const matched = new Set<Item>()
    for (const item of leftB) {
      const partner = waiting.get(JSON.stringify(keyOf(item)))?.shift()
      if (partner === undefined) continue
      pairs.push({ a: partner, b: item, either: item })
      matched.add(partner).add(item)
    }
    leftA = leftA.filter(item => !matched.has(item))
    leftB = leftB.filter(item => !matched.has(item))
  }
  return [
    ...pairs,
    ...leftA.map(item => ({ a: item, b: null, either: item })),
    ...leftB.map(item => ({ a: null, b: item, either: item })),
  ]
}

/** The file and line of a location as parts of a key. */
export function placeOf(location: Location | null): readonly [file: string | undefined, line: number | undefined] {
  return [location?.file, location?.line]
}
