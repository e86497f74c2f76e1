const transactionControl = /^\s*(?:begin|start|commit|rollback|savepoint|release|end)\b/i

const reading = /^[\s(]*(?:select|with|values|table)\b/i

/** Whether a statement begins or ends a transaction. Repeating it is no repeated query. */
export function isTransactionControl(sql: string): boolean {
  return transactionControl.test(sql)
}

/** Whether a statement only reads, judging by its first word. */
export function isReading(sql: string): boolean {
  return reading.test(sql)
}

/** The verb and the first table: "select licenses". */
export function nameOfStatement(sql: string): string {
  const [, verb = 'query'] = /^\W*(\w+)/.exec(sql) ?? []
  const [, table = ''] = /\b(?:from|into|update|table)\s+"?(\w+)/i.exec(sql) ?? []
  return `${verb.toLowerCase()} ${table}`.trim()
}
