import type { Profile } from '../profile.ts'
import { renderBadge, renderStatus } from './badge.ts'
import { html, type Markup } from './html.ts'
import { profileUrl } from './profile-url.ts'
import { outcomeText, statusTone } from './tone.ts'
import { formatDuration, formatTime } from './units.ts'

/** What a request was, in one glance: status, method, URL, and the few facts that tell it from others. */
export function renderProfileHeader (profile: Profile, base: string): Markup {
  const outcome = outcomeText(profile.outcome)
  return html`<header class="summary ${statusTone(profile.status)}" aria-label="Request">
<h1>${renderStatus(profile.status)} <span class="method">${profile.method}</span> <span class="url">${profile.url}</span></h1>
<dl class="facts">
${outcome !== null && fact('Outcome', renderBadge(outcome, 'warning'))}
${fact('Time', formatDuration(profile.duration))}
${fact('Host', profile.host ?? 'none')}
${fact('Route', profile.routing.matched?.url ?? 'none')}
${fact('IP', profile.ip ?? 'unknown')}
${fact('At', html`<time datetime="${timestamp(profile.time)}">${formatTime(profile.time)}</time>`)}
${Object.entries(profile.labels).map(([name, value]) => fact(name, value))}
${fact('Token', html`<code>${profile.token}</code>`)}
${profile.parent !== null && fact('Caused by', html`<a href="${profileUrl(base, profile.parent)}">${profile.parent}</a>`)}
</dl>
</header>`
}

function fact (name: string, value: Markup | string): Markup {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`
}

function timestamp (time: number): string {
  return formatTime(time).replace(' UTC', 'Z').replace(' ', 'T')
}
