import { remember } from '../../core/bounds.ts'

interface StatementFacts {
  /** The verb and the first table: "select licenses". */
  name: string
  /** Whether it begins or ends a transaction. Null for all other statements. */
  transaction: 'begin' | 'end' | 'within' | null
  /** Whether it only reads, judging by its first word. */
  isReading: boolean
  /** Whether its author repeats it on purpose, and says so in a comment: profiler: allow. */
  isAllowed: boolean
  /** Whether it changes rows, keys or documents. */
  isWriting: boolean
  /** Whether it reads what stays the same until somebody changes it. */
  isRepeatableRead: boolean
  /** Whether one statement could do what several of its kind do. */
  isLoopable: boolean
}

/** A block of SQL Server begins as a transaction does. */
const control =
  /^\s*(?:(begin(?!\s+(?:try|declare|set|select|insert|update|delete|merge|exec|if|while)\b)|start)|(commit|end|abort|rollback(?!\s+(?:work\s+|transaction\s+)?to\b))|savepoint|release|rollback)\b/i

const allowed = /(?:\/\*|--)\s*profiler:\s*allow\b/i

const reading = /^[\s(]*(?:select|with|values|table|show|get|mget|hget|hgetall|hmget|exists|find|aggregate|count)\b/i

const writing =
  /^\s*(?:insert|update|delete|replace|merge|findandmodify)\b|^(?:p?setn?x?|setex|mset|[hsz]?(?:set|add|rem)|[lr]pushx?|h?del|unlink|p?expire)$/i

/** What sets a session up or changes the database itself: repeating it is no loop over a list. */
const notLoopable =
  /^\s*(?:set|reset|show|fetch|move|close|declare|(?:un)?listen|notify|lock|explain|analyze|vacuum|discard|create|alter|drop|truncate|copy|prepare|deallocate|use|pragma|call|do|grant|revoke|getmore)\s+\S/i
/** What differs at each call, or locks rows. */
const volatileRead =
  /\b(?:nextval|currval|lastval|random|rand|uuid\w*|gen_random_uuid|clock_timestamp|last_insert_id|pg_\w+)\s*\(|\bfor\s+(?:no\s+key\s+)?(?:update|share)\b|\bskip\s+locked\b/i

/** Commands of Redis that go on where the one before ended, wait, run a script, or belong to a connection. */
const connectionCommand =
  /^(?:[hsz]?scan|select|ping|auth|hello|info|config|client|multi|exec|(?:eval|fcall)\w*|(?:un)?watch|x\w*read\w*|b\w*pop\w*|p?(?:un)?subscribe|publish|quit|time)$/i
const command = /^(?:\w+|(?:find|aggregate|count|distinct|insert|update|delete|findandmodify) \S+)$/i
const tables = /\b(?:from|into|update)\s/i
const calls = /^\s*select\s+(?:pg_\w+|set_config|(?:next|set|curr)val)\s*\(/i

export const readStatement = remember((statement): StatementFacts => {
  const isReading = reading.test(statement)
  const isOfConnection = connectionCommand.test(statement)
  const isCommand = command.test(statement) && !isOfConnection
  return {
    name: nameOf(statement),
    transaction: transactionOf(statement),
    isReading,
    isAllowed: allowed.test(statement),
    isWriting: writing.test(statement),
    isRepeatableRead: isReading && (isCommand || tables.test(statement)) && !volatileRead.test(statement),
    isLoopable: !isOfConnection && !notLoopable.test(statement) && (tables.test(statement) || !calls.test(statement)),
  }
})

function transactionOf(statement: string): StatementFacts['transaction'] {
  const match = control.exec(statement)
  if (match === null) return null
  if (match[1] !== undefined) return 'begin'
  return match[2] === undefined ? 'within' : 'end'
}

const tableName =
  /\b(?:from|into|update|table)\s+(?:if\s+(?:not\s+)?exists\s+|only\s+)*(?:["`[]?\w+["`\]]?\.)*["`[]?(\w+)/i

function nameOf(statement: string): string {
  const [, verb = 'query'] = /^\W*(\w+)/.exec(statement) ?? []
  const [, table = ''] = tableName.exec(statement) ?? []
  return `${verb.toLowerCase()} ${table}`.trim()
}
