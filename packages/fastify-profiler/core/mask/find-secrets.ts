import { addNamed } from './named-values.ts'
import { addPublished, type Place } from './published-secrets.ts'

// Saves 1.2 µs for a statement of 40 characters, 3 to 15 % of a profiled request:
// `npm run -w bench profiler-mechanisms`.

const mostKept = 1000
/** As long as most stacks, which an error has in its line of the log. */
const longestKept = 2000

/** Texts without secrets, since most texts of a request occur in earlier ones too. */
const harmless = new Set<string>()

/** The places of secrets in a text, found by their form or by the name beside them. Sorted, without overlaps. */
export function findSecrets(text: string): readonly Place[] {
  if (harmless.has(text)) return []
  const places = searchSecrets(text)
  if (places.length > 0 || text.length > longestKept) return places
  if (harmless.size >= mostKept) harmless.clear()
  harmless.add(text)
  return places
}

/** Like findSecrets, without remembering texts that have none. */
export function searchSecrets(text: string): readonly Place[] {
  const places: Place[] = []
  addPublished(text, places)
  addNamed(text, places)
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
