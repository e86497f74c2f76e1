import type { ProfileSummary } from '../../base/profile.ts'
import { renderBadge, renderStatus } from './badge.ts'
import { html, type Markup } from '../../base/html.ts'
import { profileUrl } from './profile-url.ts'
import { renderTime } from './time.ts'
import { titled } from './titled.ts'
import { outcomeText, outcomeTone, statusTone } from './tone.ts'
import { count, formatDuration } from './units.ts'

/** A list of requests, each with a link to its profile. On a narrow screen each row becomes a block. */
export function renderProfileList(profiles: readonly ProfileSummary[], base: string, panel?: string): Markup {
  const labels = [...new Set(profiles.flatMap(profile => Object.keys(profile.labels)))]
  return html`<table class="profiles">
<caption class="sr-only">Requests</caption>
<thead><tr>${['Status', 'Request', 'Duration', 'Host', 'IP', ...labels.map(titled), 'Time'].map(heading => html`<th scope="col">${heading}</th>`)}</tr></thead>
<tbody>${profiles.map(
    profile => html`
<tr><td class="status">${renderStatus(profile.status, 'short')}</td>
<td class="asked"><a class="title" href="${profileUrl(base, profile.token, panel)}"><span class="method">${profile.method}</span> <span class="url">${profile.url}</span></a> ${about(profile)}</td>
<td class="duration">${formatDuration(profile.duration)}</td>
${fact('Host', profile.host)}
${fact('IP', profile.ip)}
${labels.map(name => fact(titled(name), profile.labels[name] ?? null))}
<td>${renderTime(profile.time)} <code class="token">${profile.token}</code></td></tr>`,
  )}
</tbody></table>`
}

/** A narrow screen has no table head, so the cell carries its name. */
function fact(name: string, value: string | null): Markup {
  return html`<td data-name="${name}"${value === null && html` class="nothing"`}>${value}</td>`
}

function about(profile: ProfileSummary): Markup {
  const outcome = outcomeText(profile.outcome)
  return html`${profile.exception !== null && html`<small class="thrown ${statusTone(profile.status)}">${profile.exception}</small>`}${profile.logErrors > 0 && html` ${renderBadge(count(profile.logErrors, 'logged error'), 'error')}`}${outcome !== null && html` ${renderBadge(outcome, outcomeTone(profile.outcome))}`}${profile.route !== null && profile.route !== profile.url && html` <small>route ${profile.route}</small>`}`
}
