import { html, type Content, type Markup } from '../../base/html.ts'

/** One quiet line where there is nothing to show, saying why. */
export function renderEmptyState(why: Content): Markup {
  return html`<p class="empty">${why}</p>`
}
