// Buys 5 µs for a browser's Accept and 0.6 for its Accept-Language, of a request's 35: `npm run -w bench mechanisms`.
import { ownText } from './own-text.ts'

/** Longer texts are not kept: what is remembered stays small. */
const longestKept = 300

/**
 * Remembers what a function makes of a text, where few different ones come again and again.
 * @param mostKept how many texts are remembered; when there are as many, all are forgotten
 */
export function memoize<Made>(make: (text: string) => Made, mostKept: number): (text: string) => Made {
  const known = new Map<string, { made: Made }>()
  return text => {
    if (text.length > longestKept) return make(text)
    const remembered = known.get(text)
    if (remembered !== undefined) return remembered.made
    if (known.size >= mostKept) known.clear()
    const made = make(text)
    known.set(ownText(text), { made })
    return made
  }
}
