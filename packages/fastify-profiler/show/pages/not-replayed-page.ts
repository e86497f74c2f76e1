import { html } from '../../base/html.ts'
import type { Profile } from '../../base/profile.ts'
import type { NotRepeatable } from '../../replay/repeatable-request.ts'
import { blocks, plain } from '../markdown/markdown.ts'
import { renderCodeBlock } from '../parts/code-block.ts'
import { curlCommand } from '../parts/curl-command.ts'
import { profileUrl } from '../parts/profile-url.ts'
import { renderPage } from './page.ts'

/** Says why a request was not sent again, and how to do it by hand. */
export function renderNotReplayedPage({ message }: NotRepeatable, profile: Profile, base: string): string {
  const { method, token, url } = profile
  return renderPage({
    title: 'Not replayed · Profiler',
    base,
    main: html`<h1>Not replayed</h1>
<p class="notice warning">${message}</p>
<p><a href="${profileUrl(base, token)}">Back to ${method} ${url.slice(0, 200)}</a></p>
<h2>By hand</h2>
${renderCodeBlock(curlCommand(profile))}`,
  })
}

/** The same as Markdown. */
export function renderNotReplayedMarkdown({ message }: NotRepeatable): string {
  return `${blocks('# Not replayed', plain(message))}\n`
}
