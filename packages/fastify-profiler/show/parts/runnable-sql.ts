import type { Json, Query } from '../../base/profile.ts'
import { masked } from '../../mask/known-secrets.ts'

/** A statement with its parameters in place, to run by hand. What was masked or left out is named in a comment. */
export function runnableSql({ sql, parameters }: Pick<Query, 'sql' | 'parameters'>): string {
  let place = 0
  return sql.replace(/'(?:''|[^'])*'|"(?:""|[^"])*"|\$(\d+)|\?/g, (text, digits?: string) => {
    if (text !== '?' && digits === undefined) return text
    const index = digits === undefined ? place++ : Number(digits) - 1
    const parameter = parameters[index]
    return parameter === undefined ? text : literal(parameter, index + 1)
  })
}

function literal(parameter: Json, number: number): string {
  if (parameter === null || typeof parameter === 'number' || typeof parameter === 'boolean') return String(parameter)
  if (typeof parameter === 'string' && parameter.includes(masked)) return `null /* parameter ${number} is masked */`
  const text = typeof parameter === 'string' ? parameter : JSON.stringify(parameter)
  return `'${text.replaceAll("'", "''")}'`
}
