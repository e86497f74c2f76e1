import { boundValues } from './bound-values.ts'
import { masked } from './known-secrets.ts'
import { looksSecret } from './secret-values.ts'
import { decisiveNames, isSensitiveField } from './sensitive-names.ts'

/** A query whose values for sensitive columns are masked. */
export interface HarmlessQuery {
  sql: string
  parameters: readonly unknown[]
  /** The texts that were masked. */
  secrets: readonly string[]
}

/** Masks the parameters and literals that are bound to sensitive columns. */
export function maskQuery(sql: string, parameters: readonly unknown[]): HarmlessQuery {
  const kept = [...parameters]
  const secrets: string[] = []
  let harmless = ''
  let at = 0
  let expression: readonly string[] | null = null
  let names: readonly string[] = []
  const { values, unbound } = boundValues(sql)
  const areAllSecret = unbound.some(column => isSensitiveField(column, ''))
  for (const { parameter, from, to, columns } of values) {
    // A question mark without a parameter is an operator.
    if (parameter !== null && parameter >= parameters.length) continue
    const value = parameter === null ? literalValue(sql.slice(from, to)) : parameters[parameter]
    const text = String(value)
    // The values of one expression have the same columns, and there may be thousands of both.
    if (columns !== expression) names = [...decisiveNames((expression = columns))]
    if (!areAllSecret && !names.some(name => isSensitiveField(name, text))) continue
    for (const item of Array.isArray(value) ? value : [value]) if (typeof item === 'string') secrets.push(item)
    if (parameter === null) {
      harmless += `${sql.slice(at, from)}'${masked}'`
      at = to
    } else {
      kept[parameter] = masked
    }
  }
  return { sql: harmless + sql.slice(at), parameters: kept, secrets }
}

/** The values of a query that are so improbable that other occurrences must be the same secret. */
export function secretsInQuery(sql: string, parameters: readonly unknown[]): readonly string[] {
  if (boundValues(sql).values.length === 0) return []
  return maskQuery(sql, parameters).secrets.filter(looksSecret)
}

function literalValue(literal: string): string {
  if (literal.startsWith('$')) return literal.replace(/^\$\w*\$|\$\w*\$$/g, '')
  const text = literal.replace(/^e?'|'$/gi, '').replaceAll("''", "'")
  return /^e/i.test(literal) ? text.replace(/\\(.)/gs, '$1') : text
}
