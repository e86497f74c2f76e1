import { masked } from '../../core/mask/known-secrets.ts'
import {
  decisiveNames,
  isSensitiveField,
  isSensitiveName,
  looksSecret,
  needsValue,
} from '../../core/mask/secret-names.ts'
import { remember } from '../../core/bounds.ts'
import { isRecord } from '../../core/foreign-value.ts'

/** A parameter or a literal of a statement, with the columns it is bound to. */
interface BoundValue {
  /** Position among the parameters, from 0, or a name in the first; null for a literal. */
  parameter: number | string | null
  from: number
  to: number
  /** Names in the same expression; in a row of an INSERT, also the column at the same position. */
  columns: string[]
}

/** The values of a statement, and what it writes without one. */
interface BoundStatement {
  values: readonly BoundValue[]
  /** Columns whose value comes from elsewhere in the statement, such as a subquery. */
  unbound: readonly string[]
  /** Whether no value is bound to a column that may be sensitive, as in most statements. */
  isHarmless: boolean
}

/** Literals, identifiers, placeholders and punctuation; also comments, so that their content is skipped. */
const token = new RegExp(
  [
    "e'(?:''|\\\\[\\s\\S]|[^'\\\\])*'?",
    "'(?:''|[^'])*'?",
    '"(?:""|[^"])*"?',
    '--[^\\n]*',
    '/\\*[\\s\\S]*?(?:\\*/|$)',
    '\\$\\d+',
    '\\?',
    '@\\w+',
    '\\$([a-z_]\\w*)?\\$[\\s\\S]*?(?:\\$\\1\\$|$)',
    '[a-z_][\\w$]*',
    '->>?',
    '[(),.*]',
  ].join('|'),
  'gi',
)

/** A literal: quoted, with escapes, or dollar-quoted. */
const literal = /^(?:e?'|\$\D)/i

/** Constants that a column may be set to; none is a secret. */
const constant = /^(?:null|default|true|false|now|current_timestamp)$/i

/** Keywords that start a new expression. */
const clause = /^(?:select|from|where|and|or|set|on|having|values|limit|offset|returning|order|group|union|join)$/i

/** Finds the values of a statement and the columns they are bound to. */
const boundValues = remember((sql): BoundStatement => {
  const { values, unbound } = new StatementReader().read(sql)
  const columns = [...unbound, ...[...new Set(values.map(value => value.columns))].flat()]
  return { values, unbound, isHarmless: !columns.some(name => isSensitiveName(name) || needsValue(name)) }
})

/** A depth that is not set. */
const nowhere = -1

/** Parses a statement, expression by expression. */
class StatementReader {
  readonly #values: BoundValue[] = []
  #depth = 0
  /** The depth at which a comma starts a new expression. */
  #expressionDepth = 0
  /** Names in the current expression. */
  #columns: string[] = []
  /** The column list of an INSERT. */
  #inserted: string[] = []
  /** Inserted columns whose expression is yet to come. */
  #awaited = new Set<string>()
  readonly #unbound = new Set<string>()
  /** Depth of the assignments of an UPDATE. */
  #setDepth = nowhere
  /** Whether the current expression has a bound value. */
  #isBound = false
  #state: 'into' | 'listing' | null = null
  /** Depth of the values of an INSERT, and the position among them. */
  #rowDepth = nowhere
  #position = 0
  #isBetween = false
  /** Whether variables get their values in this statement, so that those may be secrets, too. */
  #hasVariables = false
  /** Placeholders without a number so far; null if placeholders have numbers, and a question mark is an operator. */
  #questionMarks: number | null = 0

  read(sql: string): Omit<BoundStatement, 'isHarmless'> {
    let previous = ''
    if (/\$\d/.test(sql)) this.#questionMarks = null
    this.#hasVariables = /\b(?:declare|set|select|into)\s+@|:=/i.test(sql)
    for (const { index, 0: text } of sql.matchAll(token)) {
      if (/^(?:--|\/\*)/.test(text)) continue
      const isValue = /^\$\d/.test(text) || (literal.test(text) && !previous.startsWith('->'))
      if (isValue) this.#add(text, index)
      else if (text === '?') this.#addQuestionMark(index)
      else if (text.startsWith('@')) this.#addNamed(text, index)
      else if (/^(?:by|via|with)$/i.test(text) && /^identified$/i.test(previous)) this.#begin(0, 'password')
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

  #addQuestionMark(from: number): void {
    if (this.#questionMarks === null) return
    this.#isBound = true
    this.#values.push({ parameter: this.#questionMarks++, from, to: from + 1, columns: this.#columns })
  }

  /** A name tells as much as a column. Without a parameter, it is a variable. */
  #addNamed(text: string, from: number): void {
    this.#name(text.slice(1))
    this.#isBound ||= !this.#hasVariables
    this.#values.push({ parameter: text.slice(1), from, to: from + text.length, columns: this.#columns })
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

  /** The name before a dot is a table. */
  #dropTable(): void {
    // `excluded` is the row to insert, and its values are bound there.
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

  /** Marks the column of the current expression as unbound if its value comes from a table or a subquery. */
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

  #begin(position: number, ...columns: string[]): void {
    this.#endExpression(false)
    this.#expressionDepth = this.#depth
    this.#columns = columns
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

/** A query whose values for sensitive columns are masked. */
interface HarmlessQuery {
  sql: string
  parameters: readonly unknown[]
  /** The texts that were masked. */
  secrets: readonly string[]
}

/** Masks the parameters and literals that are bound to sensitive columns. */
export function maskQuery(sql: string, parameters: readonly unknown[]): HarmlessQuery {
  const { values, unbound, isHarmless } = boundValues(sql)
  if (isHarmless) return { sql, parameters, secrets: [] }
  const kept = [...parameters]
  const [first] = parameters
  const hasNames = isRecord(first) && values.some(({ parameter }) => typeof parameter === 'string')
  const named: Record<string, unknown> = hasNames ? { ...first } : {}
  // T-SQL takes @Name and @name for one.
  const keys = new Map(Object.keys(named).map(key => [key.toLowerCase(), key]))
  const secrets: string[] = []
  let harmless = ''
  let at = 0
  let expression: readonly string[] | null = null
  let names: readonly string[] = []
  const areAllSecret = unbound.some(column => isSensitiveField(column, ''))
  for (const { parameter: placeholder, from, to, columns } of values) {
    const parameter = typeof placeholder === 'string' ? keys.get(placeholder.toLowerCase()) : placeholder
    if (parameter === undefined) continue
    // A question mark without a parameter is an operator.
    if (typeof parameter === 'number' && parameter >= parameters.length) continue
    const bound: unknown = typeof parameter === 'string' ? named[parameter] : parameters[parameter ?? -1]
    const value = parameter === null ? literalValue(sql.slice(from, to)) : bound
    const text = String(value)
    // The values of one expression have the same columns, and there may be thousands of both.
    if (columns !== expression) names = [...decisiveNames((expression = columns))]
    if (!areAllSecret && !names.some(name => isSensitiveField(name, text))) continue
    for (const item of Array.isArray(value) ? value : [value]) if (typeof item === 'string') secrets.push(item)
    if (parameter === null) {
      harmless += `${sql.slice(at, from)}'${masked}'`
      at = to
    } else if (typeof parameter === 'string') {
      named[parameter] = masked
      kept[0] = named
    } else {
      kept[parameter] = masked
    }
  }
  return { sql: harmless + sql.slice(at), parameters: kept, secrets }
}

/** The values of a query that are so improbable that other occurrences must be the same secret. */
export function secretsInQuery(sql: string, parameters: readonly unknown[]): readonly string[] {
  return maskQuery(sql, parameters).secrets.filter(looksSecret)
}

function literalValue(literal: string): string {
  if (literal.startsWith('$')) return literal.replace(/^\$\w*\$|\$\w*\$$/g, '')
  const text = literal.replace(/^e?'|'$/gi, '').replaceAll("''", "'")
  return /^e/i.test(literal) ? text.replace(/\\(.)/gs, '$1') : text
}
