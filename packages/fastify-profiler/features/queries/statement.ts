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

/** What can be read from a statement's text. */
interface StatementFacts {
  /** The verb and the first table: "select licenses". */
  name: string
  /** Whether it begins or ends a transaction. Null for all other statements. */
  transaction: 'begin' | 'end' | 'within' | null
  /** Whether it only reads, judging by its first word. */
  isReading: boolean
  /** Whether its author repeats it on purpose, and says so in a comment: profiler: allow. */
  isAllowed: boolean
}

const control =
  /^\s*(?:(begin|start)|(commit|end|abort|rollback(?!\s+(?:work\s+|transaction\s+)?to\b))|savepoint|release|rollback)\b/i

const allowed = /(?:\/\*|--)\s*profiler:\s*allow\b/i

const reading = /^[\s(]*(?:select|with|values|table|show|get|mget|hget|hgetall|hmget|exists|find|aggregate|count)\b/i

/** Finds what a statement does by its text. */
export const factsOf = rememberStatements((statement): StatementFacts => ({
  name: nameOf(statement),
  transaction: transactionOf(statement),
  isReading: reading.test(statement),
  isAllowed: allowed.test(statement),
}))

function transactionOf(statement: string): StatementFacts['transaction'] {
  const match = control.exec(statement)
  if (match === null) return null
  if (match[1] !== undefined) return 'begin'
  return match[2] === undefined ? 'within' : 'end'
}

function nameOf(statement: string): string {
  const [, verb = 'query'] = /^\W*(\w+)/.exec(statement) ?? []
  const [, table = ''] = /\b(?:from|into|update|table)\s+["`]?(\w+)/i.exec(statement) ?? []
  return `${verb.toLowerCase()} ${table}`.trim()
}
