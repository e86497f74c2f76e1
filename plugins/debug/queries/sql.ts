const transactionControl = /^\s*(?:begin|start|commit|rollback|savepoint|release|end)\b/i

const reading = /^[\s(]*(?:select|with|values|table)\b/i

/** Whether a statement begins or ends a transaction: asked again it is another one. */
export function isTransactionControl(sql: string): boolean {
  return transactionControl.test(sql)
}

/** Whether a statement only reads, as far as its first word tells. */
export function isReading(sql: string): boolean {
  return reading.test(sql)
}

/** "select licenses": the verb, and the first table that is named. */
export function nameOfStatement(sql: string): string {
  const [, verb = 'query'] = /^\W*(\w+)/.exec(sql) ?? []
  const [, table = ''] = /\b(?:from|into|update|table)\s+"?(\w+)/i.exec(sql) ?? []
  return `${verb.toLowerCase()} ${table}`.trim()
}
