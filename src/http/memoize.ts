/** Longer texts are not kept, to bound memory. */
const longestKept = 300

/**
 * Memoises a function of a text, for texts that repeat, such as a browser's Accept.
 * @param mostKept the number of results to keep; a further one clears them all
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

/**
 * Copies a text, which may be a substring. V8 keeps the whole text of a substring: a host cut out of a long
 * target would hold all of it.
 */
export function ownText(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}
