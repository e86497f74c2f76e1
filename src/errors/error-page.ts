import { html } from '../html.ts'
import { renderPage } from '../page.ts'

/** The small page that a browser is shown for an error. */
export function renderErrorPage (statusCode: number, title: string, detail: string): string {
  return renderPage({
    language: 'en',
    title: `${statusCode} ${title}`,
    main: html`
      <p class="status">${statusCode}</p>
      <h1>${title}</h1>
      ${detail !== title && html`<p>${detail}</p>`}
      <p><a href="/">Go to the front page</a></p>`
  })
}
