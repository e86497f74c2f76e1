import { html, type Content, type Markup } from '../../base/html.ts'

/** A titled part of a panel; the number beside the title says how much is in it. */
export function renderSection(title: Content, body: Content, amount?: number): Markup {
  return html`<section><h3>${title}${amount !== undefined && html` <span class="count">${amount}</span>`}</h3>
${body}</section>`
}
