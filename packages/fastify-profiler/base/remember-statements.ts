const mostKnown = 500
const longestKnown = 10_000

/**
 * Remembers what a function finds in a statement, since an application repeats a few. Long ones are rarely repeated, so
 * they are not remembered. All are forgotten when there are too many.
 */
export function rememberStatements<Found extends object>(
  find: (statement: string) => Found,
): (statement: string) => Found {
  const known = new Map<string, Found>()
  return statement => {
    const remembered = known.get(statement)
    if (remembered !== undefined) return remembered
    const found = find(statement)
    if (statement.length > longestKnown) return found
    if (known.size >= mostKnown) known.clear()
    known.set(statement, found)
    return found
  }
}
