import { html, type Markup } from '../../base/html.ts'

/** What was asked for and makes no sense, a line each. */
export function renderProblems(problems: readonly string[]): Markup {
  return html`${problems.map(problem => html`<p class="notice warning">${problem}</p>`)}`
}
