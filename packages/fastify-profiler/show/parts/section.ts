import { html, type Content, type Markup } from '../../base/html.ts'

/** A titled part of a panel, with an optional count beside the title. */
export function renderSection(title: Content, body: Content, amount?: number): Markup {
  return html`<section><h3>${title}${amount !== undefined && html` <span class="count">${amount}</span>`}</h3>
${body}</section>`
}
