import { features, type ProfileAction, type RelatedProfiles, type Sightings } from '../../core/feature.ts'
import type { Badge, Tone, ToolbarCard, ToolbarItem, ViewContext } from '../../core/panel.ts'
import type { DatabaseUse, HttpUse, Profile } from '../../core/profile.ts'
import type { ProfileSummary } from '../../core/summary.ts'
import { type Fact, type Inline, renderFacts } from '../../core/view/block.ts'
import { levelTone, outcomeText, outcomeTone, statusText, statusTone, titled } from '../../core/view/elements.ts'
import { type Content, html, Markup } from '../../core/view/html.ts'
import { formatBytes, formatDuration, formatShare, formatTime, renderTime } from '../../core/view/units.ts'
import { profileUrl, readableUrl } from '../../core/urls.ts'
import { searchQuery } from './search-criteria.ts'
import { failedCalls } from '../performance/failed-calls.ts'

/** What the parent of a profile is to it. */
export function parentName({ isReplay }: Pick<Profile, 'isReplay'>): string {
  return isReplay === true ? 'Replay of' : 'Parent request'
}

/** Status, method and URL, as a heading or as text below one. */
export function renderRequestLine(
  { status, method, url }: Pick<Profile, 'status' | 'method' | 'url'>,
  level: 1 | null,
): Markup {
  const query = url.indexOf('?')
  const path = query === -1 ? url : url.slice(0, query)
  const name = new Markup(level === null ? 'p' : 'h1')
  return html`<span class="badge solid" title="${statusText(status)}">${status ?? '–'}</span><${name} class="url">${method} ${readableUrl(path)}${query !== -1 && html`<span class="muted">${readableUrl(url.slice(query))}</span>`}</${name}>`
}

interface HeaderParts {
  actions: Content
  /** The requests that it made with `inject`, and those that repeated it. */
  caused: readonly ProfileSummary[]
  /** How often its exception was seen; null for once or never. */
  seen: Inline
  when: Inline
}

/** The band at the top of a profile: status, method and URL, the facts that matter, and where to go next. */
export function renderProfileHeader(context: ViewContext, { actions, caused, seen, when }: HeaderParts): Markup {
  const { base, profile } = context
  const facts = [...profileFacts(profile, seen, when), ...relationFacts(profile, caused, base)]
  const tone = statusTone(profile.status)
  const isSilent =
    tone === 'good' &&
    (failedCalls(profile).length > 0 || profile.logs.some(({ level }) => levelTone(level) === 'error'))
  return html`<section class="request ${isSilent ? 'warning' : tone}" aria-label="This request">
<div class="asked">${renderRequestLine(profile, 1)}
${actions}</div>
${renderFacts(facts, context)}
</section>`
}

function profileFacts(profile: Profile, seen: Inline, when: Inline): Fact[] {
  const outcome = outcomeText(profile.outcome)
  return [
    ['Outcome', outcome && { badge: outcome, tone: outcomeTone(profile.outcome) }],
    ['Time', formatDuration(profile.duration)],
    ['Seen', seen],
    ...features.flatMap(({ facts }) => facts?.(profile) ?? []),
    ['Response', responseText(profile)],
    ...Object.entries(profile.labels).map(([name, value]) => [titled(name), value] as const),
    ['When', when],
    ['Token', { code: profile.token }],
  ]
}

function relationFacts(profile: Profile, caused: readonly ProfileSummary[], base: string): Fact[] {
  const { parent } = profile
  const links = (requests: readonly ProfileSummary[], textOf: (request: ProfileSummary) => string): Inline =>
    requests.length === 0 ? null : requests.map(each => [{ link: textOf(each), to: profileUrl(base, each.token) }, ' '])
  const replays = caused.filter(({ isReplay }) => isReplay === true)
  const others = caused.filter(({ isReplay }) => isReplay !== true)
  return [
    [parentName(profile), parent && { link: parent, to: profileUrl(base, parent) }],
    ['Subrequests', links(others, ({ status, method, url }) => `${status} ${method} ${readableUrl(url)}`)],
    ['Replays', links(replays, ({ status, duration }) => `${status ?? 'none'} · ${formatDuration(duration)}`)],
  ]
}

type CallUse = DatabaseUse | HttpUse

/** An error if a call failed, a warning if some were repeated. */
function callsTone(use: CallUse): Tone {
  if (use.failed > 0) return 'error'
  return 'repetitions' in use && use.repetitions.length > 0 ? 'warning' : 'neutral'
}

/** 23 · 41.8 ms, without a time if none of them took any of the request. */
function callsText({ count, duration }: CallUse): string {
  return `${count.toLocaleString('en')}${duration > 0 ? ` · ${formatDuration(duration)}` : ''}`
}

/** How much of a request its calls took, as a metric. */
export function shareOfRequest(duration: number, whole: number, note: string | null = null) {
  if (!(duration > 0)) return ['of the request', 'none', note] as const
  return [`${formatShare(duration, whole)} of the request`, formatDuration(duration), note] as const
}

export function callsFact(name: string, use: CallUse | null): Fact[] {
  if (use === null) return []
  const { failed } = use
  const text = `${callsText(use)}${failed > 0 ? `, ${failed.toLocaleString('en')} failed` : ''}`
  const tone = callsTone(use)
  return [[name, tone === 'neutral' ? text : { strong: text, tone }]]
}

export function callsBadge(use: CallUse): Badge {
  return { text: use.failed > 0 ? `${use.failed} failed` : String(use.count), tone: callsTone(use) }
}

export function callsItem(label: string, use: CallUse, card: ToolbarCard): ToolbarItem {
  return { label, value: callsText(use), tone: callsTone(use), card }
}

function responseText({ response: { bodySize, contentType } }: Profile): string {
  const parts = [
    ...(contentType === null ? [] : [mediaTypeName(contentType)]),
    ...(bodySize === null ? [] : [formatBytes(bodySize)]),
  ]
  return parts.length === 0 ? 'unknown' : parts.join(', ')
}

/** What can be done with a profile. */
export function renderProfileActions(
  profile: Profile,
  base: string,
  panel: string,
  related: RelatedProfiles,
  actions: readonly ProfileAction[],
): Markup {
  const { previous, next } = related
  return html`<div class="actions">${previous !== null && html`<a class="button" rel="prev" href="${profileUrl(base, previous, panel)}">‹ Previous</a>`}${next !== null && html`<a class="button" rel="next" href="${profileUrl(base, next, panel)}">Next ›</a>`}${actions.map(action => action(profile, base, related))}</div>`
}

export function renderCost({ cost: { trace, collect, store } }: Profile): Markup {
  return html`<p>Profiling took ${formatCost(trace + collect)}: ${formatCost(trace)} up to the response, ${formatCost(collect)} after it.${store > 0 && ` Storing the previous profile took ${formatCost(store)}.`}</p>`
}

/** In microseconds below a millisecond, where most costs are. */
function formatCost(microseconds: number): string {
  return microseconds < 1000 ? `${Math.round(microseconds)} µs` : formatDuration(microseconds / 1000)
}

/** How often an exception was seen, with a link to its requests. */
export function sightingsText({ count, criteria, since }: Sightings, base: string): Inline {
  const times = { link: `${count.toLocaleString('en')} times`, to: `${base}/search?${searchQuery(criteria, 1)}` }
  return [times, ', first ', timeText(since)]
}

/** A moment, which a page shows as a time. */
export function timeText(time: number): Inline {
  return { html: renderTime(time), markdown: formatTime(time) }
}

/** What the profile lacks: data over its bounds, and the profiler's notes. */
export function renderGaps(profile: Profile): Markup | null {
  const gaps = [...droppedTexts(profile), ...profile.notes]
  if (gaps.length === 0) return null
  return html`<ul class="notice" aria-label="Missing data">${gaps.map(gap => html`\n<li>${gap}</li>`)}\n</ul>`
}

export function droppedTexts({ dropped }: Profile): string[] {
  return dropped.map(({ count, what, why }) => `${what}: ${count.toLocaleString('en')} left out. ${why}`)
}

const mediaTypes: Record<string, string> = {
  'text/html': 'HTML',
  'text/plain': 'text',
  'text/css': 'CSS',
  'text/javascript': 'JavaScript',
  'text/event-stream': 'event stream',
  'application/json': 'JSON',
  'application/problem+json': 'JSON',
  'application/octet-stream': 'binary',
}

/** A content type in a word: HTML, JSON, png. */
export function mediaTypeName(contentType: string): string {
  const type = contentType.replace(/;.*/s, '').trim().toLowerCase()
  return mediaTypes[type] ?? type.slice(type.indexOf('/') + 1)
}
