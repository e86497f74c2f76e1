import type { Profile, ProfileSummary } from '../../base/profile.ts'
import { renderBadge, renderStatus } from './badge.ts'
import { html, type Markup } from '../../base/html.ts'
import { profileUrl } from './profile-url.ts'
import { sentHost } from './sent-host.ts'
import { renderTime } from './time.ts'
import { titled } from './titled.ts'
import { outcomeText, outcomeTone, statusTone } from './tone.ts'
import { formatDuration } from './units.ts'

/** The summary of a request: status, method, URL and the facts that identify it. */
export function renderProfileHeader(profile: Profile, base: string, caused: readonly ProfileSummary[]): Markup {
  const outcome = outcomeText(profile.outcome)
  const host = sentHost(profile)
  return html`<section class="summary ${statusTone(profile.status)}" aria-label="Request">
<h1>${renderStatus(profile.status)} <span class="method">${profile.method}</span> <span class="url">${profile.url}</span></h1>
<dl class="facts">
${outcome !== null && fact('Outcome', renderBadge(outcome, outcomeTone(profile.outcome)))}
${fact('Duration', formatDuration(profile.duration))}
${fact('Host', host === null ? 'none' : `${profile.protocol}://${host}`)}
${fact('Route', profile.routing.matched?.url ?? 'none')}
${fact('IP', profile.ip ?? 'unknown')}
${fact('Time', renderTime(profile.time))}
${Object.entries(profile.labels).map(([name, value]) => fact(titled(name), value))}
${fact('Token', html`<code>${profile.token}</code>`)}
${profile.parent !== null && fact('Parent request', html`<a href="${profileUrl(base, profile.parent)}">${profile.parent}</a>`)}
${caused.length > 0 && fact('Subrequests', html`${caused.map(({ token, status, method, url }) => html`<a href="${profileUrl(base, token)}">${status} ${method} ${url}</a> `)}`)}
</dl>
</section>`
}

function fact(name: string, value: Markup | string): Markup {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`
}
