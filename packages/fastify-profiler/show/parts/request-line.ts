import type { Profile } from '../../base/profile.ts'
import { html, Markup } from '../../base/html.ts'
import { statusText } from './tone.ts'

/** Status, method and URL, as a heading or as text below one. */
export function renderRequestLine(
  { status, method, url }: Pick<Profile, 'status' | 'method' | 'url'>,
  level: 1 | null,
): Markup {
  const query = url.indexOf('?')
  const path = query === -1 ? url : url.slice(0, query)
  const name = new Markup(level === null ? 'p' : 'h1')
  return html`<span class="status" title="${statusText(status)}">${status ?? '–'}</span><${name} class="url">${method} ${path}${query !== -1 && html`<span class="query">${url.slice(query)}</span>`}</${name}>`
}
