import { html, type Content, type Markup } from '../../base/html.ts'

/** One muted line that says why there is nothing to show. */
export function renderEmptyState(why: Content): Markup {
  return html`<p class="empty">${why}</p>`
}
