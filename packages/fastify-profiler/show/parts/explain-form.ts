import { html, type Markup } from '../../base/html.ts'
import { urlPart } from './profile-url.ts'

/** Where the plan of a stored query is asked for, by POST. */
export function explainUrl(base: string, token: string, number: number | string): string {
  return `${base}/${urlPart(token)}/queries/${urlPart(String(number))}/explain`
}

/** A button that asks the database for the plan of a query. */
export function renderExplainForm(base: string, token: string, number: number): Markup {
  return html`<form method="post" action="${explainUrl(base, token, number)}"><button type="submit">Explain</button></form>`
}
