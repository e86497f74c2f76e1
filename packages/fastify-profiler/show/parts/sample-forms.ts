import { html, type Markup } from '../../base/html.ts'
import type { ViewContext } from '../../collect/panel.ts'
import { samplesUrl } from './profile-url.ts'
import { renderClock } from './time.ts'

/** How to have a request sampled: by a header, or by a button for the next request to this route. */
export function renderSampleForms({ armed, base, isFile, profile }: ViewContext): Markup | null {
  if (isFile === true) return null
  const { method, routing, token } = profile
  const { matched } = routing
  return html`<section aria-labelledby="sample"><h2 id="sample">Sample a request</h2>
${armed !== undefined && armed !== null && html`<p class="notice">The next request to <code>${method} ${matched?.url}</code> is sampled for its ${armed.kind === 'cpu' ? 'use of the CPU' : 'allocations'}, if it comes before ${renderClock(armed.until)}.</p>`}
<p>Send it with the header <code>X-Profile: cpu</code> or <code>X-Profile: allocations</code>${matched === null ? '.' : ', or sample the next one:'}</p>
${matched !== null && html`<form class="chips" method="post" action="${samplesUrl(base, token)}"><button name="kind" value="cpu">Profile the CPU of the next request to this route</button><button name="kind" value="allocations">Profile the allocations of the next request to this route</button></form>`}</section>`
}
