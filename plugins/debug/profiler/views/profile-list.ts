import type { ProfileSummary } from '../profile.ts'
import { renderBadge, renderStatus } from './badge.ts'
import { html, type Markup } from './html.ts'
import { profileUrl } from './profile-url.ts'
import { outcomeText } from './tone.ts'
import { count, formatDuration, formatTime } from './units.ts'

/** Profiles one below the other, newest first as they come, each a link to its page. */
export function renderProfileList (profiles: readonly ProfileSummary[], base: string, panel?: string): Markup {
  return html`<ol class="profiles">${profiles.map(profile => html`
<li><span class="status">${renderStatus(profile.status, 'short')}</span>
<a class="title" href="${profileUrl(base, profile.token, panel)}"><span class="method">${profile.method}</span> <span class="url">${profile.url}</span></a>
<span class="duration">${formatDuration(profile.duration)}</span>
<p class="about">${about(profile)}</p></li>`)}
</ol>`
}

function about (profile: ProfileSummary): Markup {
  const outcome = outcomeText(profile.outcome)
  return html`<span>${formatTime(profile.time)}</span>${profile.exception !== null && html` <span>${renderBadge(profile.exception, 'error')}</span>`}${profile.logErrors > 0 && html` <span>${renderBadge(count(profile.logErrors, 'logged error'), 'error')}</span>`}${outcome !== null && html` <span>${renderBadge(outcome, 'warning')}</span>`}${profile.route !== null && html` <span>route ${profile.route}</span>`}${profile.host !== null && html` <span>${profile.host}</span>`}${profile.ip !== null && html` <span>${profile.ip}</span>`}${Object.entries(profile.labels).map(([name, value]) => html` <span>${name} ${value}</span>`)} <span><code>${profile.token}</code></span>`
}
