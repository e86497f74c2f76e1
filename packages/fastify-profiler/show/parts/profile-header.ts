import type { DatabaseUse, HttpUse, LogLine, Profile } from '../../base/profile.ts'
import type { ProfileSummary } from '../../base/summary.ts'
import { browserLines } from '../../collect/browser-lines.ts'
import { renderBadge } from './badge.ts'
import { html, type Content, type Markup } from '../../base/html.ts'
import { loggedProblems } from './logged-problems.ts'
import { mediaTypeName } from './media-type.ts'
import { parentName } from './parent-name.ts'
import { profileUrl } from './profile-url.ts'
import { renderRequestLine } from './request-line.ts'
import { titled } from './titled.ts'
import { outcomeText, outcomeTone, statusTone } from './tone.ts'
import { formatBytes, formatDuration } from './units.ts'

/** What the header has beside the facts of a profile. */
export interface HeaderParts {
  actions: Content
  /** The requests that it made with `inject`, and those that repeated it. */
  caused: readonly ProfileSummary[]
  /** How often its exception was seen; null for once or never. */
  seen: Content
  when: Content
}

/** The band at the top of a profile: status, method and URL, the facts that matter, and where to go next. */
export function renderProfileHeader(
  profile: Profile,
  base: string,
  { actions, caused, seen, when }: HeaderParts,
): Markup {
  return html`<section class="request ${statusTone(profile.status)}" aria-label="This request">
<div class="asked">${renderRequestLine(profile, 1)}
${actions}</div>
<dl class="facts" tabindex="0" aria-label="Facts">${[
    ...profileFacts(profile, seen, when),
    ...relationFacts(profile, caused, base),
  ].map(
    ([name, value]) => html`
<div><dt>${name}</dt> <dd>${value}</dd></div>`,
  )}
</dl>
</section>`
}

type Fact = readonly [name: string, value: Content]

function profileFacts(profile: Profile, seen: Content, when: Content): Fact[] {
  const outcome = outcomeText(profile.outcome)
  return [
    ...(outcome === null ? [] : [['Outcome', renderBadge(outcome, outcomeTone(profile.outcome))] as const]),
    ['Time', formatDuration(profile.duration)],
    ...(seen === null ? [] : [['Seen', seen] as const]),
    ...callFacts(profile),
    ...problemFacts('Logs', profile.logs),
    ...problemFacts('In the browser', browserLines(profile)),
    ['Response', responseText(profile)],
    ...Object.entries(profile.labels).map(([name, value]): Fact => [titled(name), value]),
    ['When', when],
    ['Token', html`<code>${profile.token}</code>`],
  ]
}

/** The request that a profile comes from, and those that come from it. */
function relationFacts(profile: Profile, caused: readonly ProfileSummary[], base: string): Fact[] {
  const { parent } = profile
  const replays = caused.filter(({ isReplay }) => isReplay === true)
  const subrequests = caused.filter(({ isReplay }) => isReplay !== true)
  return [
    ...(parent === null
      ? []
      : [[parentName(profile), html`<a href="${profileUrl(base, parent)}">${parent}</a>`] as const]),
    ...(subrequests.length === 0 ? [] : [['Subrequests', renderCaused(subrequests, base)] as const]),
    ...(replays.length === 0 ? [] : [['Replays', renderReplays(replays, base)] as const]),
  ]
}

function callFacts({ database, http }: Profile): Fact[] {
  return [
    ...(database === null ? [] : [['SQL', callsText(database, database.repetitions.length > 0)] as const]),
    ...(http === null ? [] : [['HTTP', callsText(http, false)] as const]),
  ]
}

/** 23 · 41.8 ms; an error if one failed, a warning if some were repeated. */
function callsText({ count, duration, failed }: DatabaseUse | HttpUse, repeats: boolean): Markup {
  const tone = failed > 0 ? 'text-error' : repeats ? 'text-warning' : ''
  return html`<span class="${tone}">${count} · ${formatDuration(duration)}${failed > 0 && `, ${failed} failed`}</span>`
}

function problemFacts(name: string, lines: readonly LogLine[]): Fact[] {
  const problems = loggedProblems(lines)
  return problems === null ? [] : [[name, html`<span class="text-${problems.tone}">${problems.text}</span>`]]
}

function responseText({ response: { bodySize, contentType } }: Profile): string {
  const parts = [
    ...(contentType === null ? [] : [mediaTypeName(contentType)]),
    ...(bodySize === null ? [] : [formatBytes(bodySize)]),
  ]
  return parts.length === 0 ? 'unknown' : parts.join(', ')
}

function renderCaused(caused: readonly ProfileSummary[], base: string): Markup {
  return html`${caused.map(({ token, status, method, url }) => html`<a href="${profileUrl(base, token)}">${status} ${method} ${url}</a> `)}`
}

function renderReplays(replays: readonly ProfileSummary[], base: string): Markup {
  return html`${replays.map(({ token, status, duration }) => html`<a href="${profileUrl(base, token)}">${status ?? 'none'} · ${formatDuration(duration)}</a> `)}`
}
