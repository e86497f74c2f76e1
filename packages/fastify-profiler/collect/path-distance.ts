/** The parts of a path between its slashes. Long ones are cut, or comparing them would take too long. */
export function segmentsOf(path: string): string[] {
  return path
    .split('/')
    .filter(segment => segment !== '')
    .map(segment => segment.slice(0, 64))
}

/** The case-insensitive edit distance of two paths. Parameters match any segment; an extra segment costs its length. */
export function pathDistance(wanted: readonly string[], pattern: readonly string[]): number {
  if (Math.abs(wanted.length - pattern.length) > 2) return Infinity
  let distance = 0
  for (let index = 0; index < Math.max(wanted.length, pattern.length); index++) {
    const [segment = '', expected = ''] = [wanted[index], pattern[index]]
    const matches = segment !== '' && (expected.startsWith(':') || expected === '*')
    if (!matches) distance += edits(segment.toLowerCase(), expected.toLowerCase())
  }
  return distance
}

/** The Levenshtein distance of two words. */
function edits(word: string, other: string): number {
  const letters = other.split('')
  let start = 0
  let row = letters.map((_letter, column) => column + 1)
  for (const letter of word.split('')) {
    let diagonal = start++
    let left = start
    row = row.map((above, column) => {
      left = Math.min(above + 1, left + 1, diagonal + Number(letters[column] !== letter))
      diagonal = above
      return left
    })
  }
  return row.at(-1) ?? start
}
