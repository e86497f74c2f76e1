import { masked } from '../../core/mask/known-secrets.ts'
import type { Json, Query } from '../../core/profile.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { urlPart } from '../../core/view/urls.ts'

/** Where the plan of a stored query is asked for, by POST. */
export function explainUrl(base: string, token: string, number: number | string): string {
  return `${base}/${urlPart(token)}/queries/${urlPart(String(number))}/explain`
}

/** A button that asks the database for the plan of a query. */
export function renderExplainForm(base: string, token: string, number: number): Markup {
  return html`<form method="post" action="${explainUrl(base, token, number)}"><button type="submit">Explain</button></form>`
}

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
