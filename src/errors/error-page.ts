import { html } from '../pages/html.ts'
import { renderPage } from '../pages/page.ts'
import type { Remedy } from './http-errors.ts'

const toTheFrontPage: Remedy = { text: 'Go to the front page', href: '/' }

/** The page that browsers show for an error. */
export function renderErrorPage(
  statusCode: number,
  title: string,
  detail: string,
  { text, href }: Remedy = toTheFrontPage,
): string {
  return renderPage({
    language: 'en',
    title: `${statusCode} ${title}`,
    main: html`
      <p class="status">${statusCode}</p>
      <h1>${title}</h1>
      ${detail !== title && html`<p>${detail}</p>`}
      <p><a href="${href}">${text}</a></p>`,
  })
}
