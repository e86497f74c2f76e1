import { html } from '../pages/html.ts'
import { renderPage } from '../pages/site-page.ts'
import type { Hint, Remedy } from './http-errors.ts'

const toTheFrontPage: Remedy = { text: 'Go to the front page', href: '/' }

/**
 * The page that browsers show for an error.
 * @param remedy a link, or null for none
 */
export function renderErrorPage(
  statusCode: number,
  title: string,
  detail: string,
  remedy: Remedy | null = toTheFrontPage,
  hint?: Hint,
): string {
  return renderPage({
    language: 'en',
    title: `${statusCode} ${title}`,
    main: html`
      <p class="status">${statusCode}</p>
      <h1>${title}</h1>
      ${detail !== title && html`<p>${detail}</p>`}
      ${hint && html`<p>${hint.text}</p>${hint.commands.map(command => html`<p><code>${command}</code></p>`)}`}
      ${remedy && html`<p><a href="${remedy.href}">${remedy.text}</a></p>`}`,
  })
}
