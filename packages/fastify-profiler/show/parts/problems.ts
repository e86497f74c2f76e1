import { html, type Markup } from '../../base/html.ts'

/** One warning for each invalid search parameter. */
export function renderProblems(problems: readonly string[]): Markup {
  return html`${problems.map(problem => html`<p class="notice warning">${problem}</p>`)}`
}
