/** How many letters may differ. */
const mostChanges = 2

/** The candidate that a mistyped word most likely means, or undefined if none is close. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  // A long word is compared for nothing: it is no slip of the finger.
  if (word.length > 60) return undefined
  const [best] = candidates
    .map(candidate => ({ candidate, changes: changesBetween(word, candidate) }))
    .filter(({ candidate, changes }) => changes <= Math.min(mostChanges, candidate.length / 2))
    .sort((one, other) => one.changes - other.changes)
  return best?.candidate
}

/** The Levenshtein distance: the fewest letters to add, leave out or replace. */
function changesBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const letter of one) {
    let diagonal = row[0] ?? 0
    let left = diagonal + 1
    row = row.map((above, index) => {
      if (index === 0) return left
      left = Math.min(above + 1, left + 1, diagonal + (letter === other[index - 1] ? 0 : 1))
      diagonal = above
      return left
    })
  }
  return row.at(-1) ?? 0
}
