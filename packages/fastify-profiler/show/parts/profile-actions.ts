import { html, type Content, type Markup } from '../../base/html.ts'
import { isRepeatable } from '../../replay/repeatable-request.ts'
import type { Profile } from '../../base/profile.ts'
import type { ProfileSummary } from '../../base/summary.ts'
import { comparisonUrl, exportUrl, profileUrl, replayUrl } from './profile-url.ts'
import type { Sightings } from './sightings.ts'

/** The requests that a profile leads to. */
export interface RelatedProfiles {
  /** The requests that it made with `inject`, and those that repeated it. */
  caused: readonly ProfileSummary[]
  /** The tokens of its neighbours in time; null at either end. */
  previous: string | null
  next: string | null
  /** The token of the previous request of the same route; null if none is stored. */
  previousOfRoute: string | null
  sightings: Sightings | null
}

/** What can be done with a profile. `copy`: a button that copies it, where there is room for one. */
export function renderProfileActions(
  profile: Profile,
  base: string,
  panel: string,
  { previous, next, previousOfRoute }: RelatedProfiles,
  copy: Content = null,
): Markup {
  const { isReplay, method, parent, token } = profile
  const [compared, label] =
    isReplay === true ? [parent, 'the original'] : [previousOfRoute, 'the previous of this route']
  return html`<div class="actions">${previous !== null && html`<a class="button" rel="prev" href="${profileUrl(base, previous, panel)}">‹ Previous</a>`}${next !== null && html`<a class="button" rel="next" href="${profileUrl(base, next, panel)}">Next ›</a>`}${compared !== null && html`<a class="button" href="${comparisonUrl(base, compared, token)}">Compare with ${label}</a>`}${isRepeatable(method) && html`<form method="post" action="${replayUrl(base, token)}"><button>Replay</button></form>`}${copy}<details class="export"><summary class="button">Export…</summary><ul>${downloads.map(
    ([name, label]) => html`
<li><a href="${exportUrl(base, token, name)}">${label}</a></li>`,
  )}
</ul></details></div>`
}

const downloads = [
  ['file', 'HTML file'],
  ['har', 'HAR'],
  ['curl', 'cURL'],
] as const
