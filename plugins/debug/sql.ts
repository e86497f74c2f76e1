import { masked } from './profiler/index.ts'

/** Names of columns whose values are nobody's business, wherever in a statement they stand. */
const sensitive = /\b\w*(?:passw|passphrase|passcode|pwd|secret|token|credential|hash|salt|signature|session|cookie|csrf|otp|cvv|cvc|iban|card_?number|(?:api|access|private|signing|encryption|master)_?key)\w*\b|\b(?:key|pin|ssn|sid|auth)\b/i

const transactionControl = /^\s*(?:begin|start|commit|rollback|savepoint|release|end)\b/i

const reading = /^[\s(]*(?:select|with|values|table)\b/i

const literal = /'(?:''|[^'])*'?/g

/** Whether a statement names something secret: then its parameters and its literals are. */
export function namesSecret (sql: string): boolean {
  return sensitive.test(sql)
}

/** The values that are written into a statement. */
export function literalsOf (sql: string): string[] {
  return Array.from(sql.matchAll(literal), ([text]) => text.replace(/^'|'$/g, '').replaceAll("''", "'"))
}

/** A statement without the values that are written into it. */
export function maskLiterals (sql: string): string {
  return sql.replace(literal, `'${masked}'`)
}

/** Whether a statement begins or ends a transaction: asked again it is another one. */
export function isTransactionControl (sql: string): boolean {
  return transactionControl.test(sql)
}

/** Whether a statement only reads, as far as its first word tells. */
export function isReading (sql: string): boolean {
  return reading.test(sql)
}

/** "select licenses": the verb, and the first table that is named. */
export function nameOfStatement (sql: string): string {
  const [, verb = 'query'] = /^\W*(\w+)/.exec(sql) ?? []
  const [, table = ''] = /\b(?:from|into|update|table)\s+"?(\w+)/i.exec(sql) ?? []
  return `${verb.toLowerCase()} ${table}`.trim()
}
