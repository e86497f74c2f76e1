import { LRUCache } from 'lru-cache'

/** A parameter or a literal of a statement, with the columns it is bound to. */
export interface BoundValue {
  /** Position among the parameters, from 0; null for a literal. */
  parameter: number | null
  from: number
  to: number
  /** Names in the same expression; in the rows of an INSERT also the column of the same position. */
  columns: string[]
}

/** What a statement binds. */
export interface BoundStatement {
  values: readonly BoundValue[]
  /** Columns that are written without a value of their own: the values stand anywhere in the statement. */
  unbound: readonly string[]
}

/** Literals, identifiers, placeholders and signs; comments so that nothing is read in them. */
const token = new RegExp(
  [
    "e'(?:''|\\\\[\\s\\S]|[^'\\\\])*'?",
    "'(?:''|[^'])*'?",
    '"(?:""|[^"])*"?',
    '--[^\\n]*',
    '/\\*[\\s\\S]*?(?:\\*/|$)',
    '\\$\\d+',
    '\\$([a-z_]\\w*)?\\$[\\s\\S]*?(?:\\$\\1\\$|$)',
    '[a-z_][\\w$]*',
    '->>?',
    '[(),.*]',
  ].join('|'),
  'gi',
)

/** A literal: in quotes, with escapes, or between dollar signs. */
const literal = /^(?:e?'|\$\D)/i

/** What a column can be set to that is in none of the statement's values. */
const constant = /^(?:null|default|true|false|now|current_timestamp)$/i

/** What begins another expression. */
const clause = /^(?:select|from|where|and|or|set|on|having|values|limit|offset|returning|order|group|union|join)$/i

/** Statements are few, and each is asked many times; those that are long are seldom asked again. */
const known = new LRUCache<string, BoundStatement>({
  max: 500,
  maxSize: 1_000_000,
  maxEntrySize: 10_000,
  sizeCalculation: (_read, sql) => sql.length + 1,
})

/** The values of a statement, and the columns that it writes without one. */
export function boundValues(sql: string): BoundStatement {
  const statement = known.get(sql)
  if (statement !== undefined) return statement
  const read = new StatementReader().read(sql)
  known.set(sql, read)
  return read
}

/** No depth of parentheses. */
const nowhere = -1

/** Reads a statement, expression by expression. */
class StatementReader {
  readonly #values: BoundValue[] = []
  /** Parentheses that are open. */
  #depth = 0
  /** Where a comma begins another expression. */
  #expressionDepth = 0
  /** Of the current expression. */
  #columns: string[] = []
  /** The columns that an INSERT lists. */
  #inserted: string[] = []
  /** Those of them for which no expression was read yet. */
  #awaited = new Set<string>()
  readonly #unbound = new Set<string>()
  /** Where the columns are that an UPDATE sets. */
  #setDepth = nowhere
  /** Whether a value is known to be bound to the current expression. */
  #isBound = false
  #state: 'into' | 'listing' | null = null
  /** Where the values are that an INSERT puts into these columns, and the position among them. */
  #rowDepth = nowhere
  #position = 0
  #isBetween = false

  read(sql: string): BoundStatement {
    let previous = ''
    for (const { index, 0: text } of sql.matchAll(token)) {
      if (/^(?:--|\/\*)/.test(text)) continue
      const isValue = /^\$\d/.test(text) || (literal.test(text) && !previous.startsWith('->'))
      if (isValue) this.#add(text, index)
      else this.#readToken(text)
      previous = text
    }
    this.#endExpression(false)
    this.#endInsertion()
    return { values: this.#values, unbound: [...this.#unbound] }
  }

  #add(text: string, from: number): void {
    const parameter = literal.test(text) ? null : Number(text.slice(1)) - 1
    this.#isBound = true
    this.#values.push({ parameter, from, to: from + text.length, columns: this.#columns })
  }

  #readToken(text: string): void {
    if (text === '(') this.#open()
    else if (text === ')') this.#close()
    else if (text === ',') this.#separate()
    else if (text === '.') this.#dropTable()
    else if (clause.test(text)) this.#beginClause(text.toLowerCase())
    else if (/^into$/i.test(text)) this.#beginInsertion()
    else if (/^between$/i.test(text)) this.#isBetween = true
    else if (!text.startsWith('->')) this.#name(text.replace(/^["']|["']$/g, ''))
  }

  #name(name: string): void {
    if (this.#state === 'listing') {
      this.#inserted.push(name)
      this.#awaited.add(name)
    } else {
      this.#columns.push(name)
    }
  }

  /** What precedes a point is a table. */
  #dropTable(): void {
    // The row that was to be inserted: its values are bound there.
    if (this.#columns.pop() === 'excluded') this.#isBound = true
  }

  #beginInsertion(): void {
    this.#endInsertion()
    this.#state = 'into'
    this.#inserted = []
    this.#awaited = new Set()
    this.#rowDepth = nowhere
  }

  #endInsertion(): void {
    for (const column of this.#awaited) this.#unbound.add(column)
  }

  /** Notes the column that the current expression writes, if its value is somewhere else: in a table or a subquery. */
  #endExpression(isNested: boolean): void {
    const [column, ...others] = this.#columns
    const isWritten = this.#expressionDepth === this.#rowDepth || this.#expressionDepth === this.#setDepth
    if (column === undefined || !isWritten || this.#isBound) return
    if (isNested || others.some(name => !constant.test(name))) this.#unbound.add(column)
  }

  #open(): void {
    this.#depth++
    if (this.#state === 'into') this.#state = 'listing'
    if (this.#depth === this.#rowDepth) this.#begin(0)
  }

  #close(): void {
    this.#depth--
    this.#state = null
    if (this.#depth < this.#expressionDepth) this.#begin(this.#position)
  }

  #separate(): void {
    if (this.#depth === this.#expressionDepth) this.#begin(this.#position + 1)
  }

  #beginClause(word: string): void {
    const isAnd = word === 'and' && this.#isBetween
    this.#isBetween = false
    if (isAnd) return
    this.#state = null
    this.#endExpression(this.#depth > this.#expressionDepth)
    this.#columns = []
    if (this.#depth <= this.#rowDepth) this.#rowDepth = nowhere
    if (word === 'set') this.#setDepth = this.#depth
    else if (this.#depth <= this.#setDepth && word !== 'and' && word !== 'or') this.#setDepth = nowhere
    if (this.#rowDepth === nowhere && this.#inserted.length > 0) {
      if (word === 'values') this.#rowDepth = this.#depth + 1
      else if (word === 'select') this.#rowDepth = this.#depth
    }
    this.#begin(0)
  }

  /** Begins another expression. */
  #begin(position: number): void {
    this.#endExpression(false)
    this.#expressionDepth = this.#depth
    this.#columns = []
    this.#isBound = false
    if (this.#depth !== this.#rowDepth) return
    this.#position = position
    const column = this.#inserted[position]
    if (column !== undefined) {
      this.#columns.push(column)
      this.#awaited.delete(column)
    }
  }
}
