import { addNamed } from './named-values.ts'
import type { Place } from './place.ts'
import { addPublished } from './published-secrets.ts'

/** Caches texts without secrets, since most texts of a request occur in earlier ones too. */
const plain = new Set<string>()
const plainKept = 2000
const longestPlain = 200

/** The places of secrets in a text, found by their form or by the name beside them. Sorted, without overlaps. */
export function findSecrets(text: string): readonly Place[] {
  if (plain.has(text)) return []
  const places: Place[] = []
  addPublished(text, places)
  addNamed(text, places)
  if (places.length === 0 && text.length <= longestPlain) {
    if (plain.size >= plainKept) plain.clear()
    plain.add(text)
  }
  return places.length < 2 ? places : united(places)
}

/** Sorts places, and merges those that overlap. */
function united(places: Place[]): Place[] {
  places.sort((one, other) => one[0] - other[0])
  const result: Place[] = []
  for (const place of places) {
    const last = result.at(-1)
    if (last === undefined || place[0] >= last[1]) result.push(place)
    else result[result.length - 1] = [last[0], Math.max(last[1], place[1])]
  }
  return result
}
