import { features } from '../../core/feature.ts'
import type { ProfileSummary, SearchCriteria, SearchResult, SortOrder, TimeKind } from '../../core/summary.ts'
import { outcomeText, statusText, statusTone, titled } from '../../core/view/elements.ts'
import { type Content, html, type Markup } from '../../core/view/html.ts'
import { alignNumber, count, formatDuration, formatMilliseconds, renderAge } from '../../core/view/units.ts'
import { profileUrl, readableUrl, urlPart } from '../../core/urls.ts'
import { searchQuery } from './search-criteria.ts'
import { kindView, renderKind, timeByKind } from '../performance/exclusive-time.ts'
import { stackedPieces } from '../performance/performance-panel.ts'
import { renderPieces } from '../performance/waterfall.ts'

/** From this many milliseconds on a duration is marked. */
export const slowRequestFrom = 100

export interface ListOptions {
  base: string
  panel?: string | undefined
  /** How many requests a row stands for, by token. */
  polls?: SearchResult['polls']
  /** The median duration of routes with several requests, by method and pattern. */
  medians?: ReadonlyMap<string, number>
  /** Whether new requests are added as they happen. */
  isLive?: boolean
  /** The search that the columns sort; null if they do not. */
  criteria?: SearchCriteria | null
}

/** A column that says where requests came from, and is left out if all came from the same place. */
interface Origin {
  name: string
  valueOf: (profile: ProfileSummary) => string | null
}

export function renderProfileList(profiles: readonly ProfileSummary[], options: ListOptions): Markup {
  const origins = originsOf([...new Set(profiles.flatMap(({ labels }) => Object.keys(labels)))])
  const shown = origins.filter(({ valueOf }) => new Set(profiles.map(valueOf)).size > 1)
  const [first] = profiles
  const constant = origins.filter(
    origin => !shown.includes(origin) && first !== undefined && origin.valueOf(first) !== null,
  )
  return html`<table class="lines requests"${options.isLive === true && html` data-live="${liveUrl(shown, options)}"`}><caption class="sr-only">Requests</caption>
<thead><tr><td class="only-wide"></td><th scope="col">Status</th><th scope="col">Request</th>${shown.map(({ name }) => html`<th scope="col" class="only-wide">${name}</th>`)}${sortable('ms', 'duration', options)}<th scope="col" class="only-wide">Time by kind</th>${sortable('Queries', 'sql', options)}${sortable('Query ms', 'sqlTime', options)}${sortable('kB', 'size', options)}${sortable('When', null, options)}</tr></thead>
<tbody>${profiles.map(profile => renderProfileRow(profile, shown, options))}
</tbody></table>
${profiles.length > 1 && renderTray(options.base)}
<p class="legend row only-wide muted">${kindsIn(profiles).map(kind => html`<span>${renderKind(kind)}${kindView(kind).label}</span>`)}<span>A full bar is ${slowRequestFrom} ms or more.</span></p>
${constant.length > 0 && html`<p class="muted constant">The same in every row: ${constant.map(({ name, valueOf }, index) => html`${index > 0 && ', '}${name} ${first !== undefined && valueOf(first)}`)}.</p>`}`
}

/** The kinds of time in the bars of a list, most time first. */
function kindsIn(profiles: readonly ProfileSummary[]): TimeKind[] {
  const slices = profiles.flatMap(({ times }) => times.map(([kind, end]) => ({ kind, start: 0, end })))
  return timeByKind(slices.map(slice => ({ ...slice, span: null, isBlocking: false }))).map(([kind]) => kind)
}

/** The URL of the events with the rows that this list lacks. */
function liveUrl(origins: readonly Origin[], { base, panel }: ListOptions): string {
  const query = new URLSearchParams(origins.map(({ name }) => ['origin', name]))
  if (panel !== undefined) query.set('panel', panel)
  return `${base}/events?${query}`
}

/** The columns that say where requests came from: host, address, and the labels of panels. */
export function originsOf(labels: readonly string[]): Origin[] {
  return [
    { name: 'Host', valueOf: ({ host }) => host },
    { name: 'IP', valueOf: ({ ip }) => ip },
    ...labels.map(name => ({
      name: titled(name),
      valueOf: ({ labels }: ProfileSummary) => (Object.hasOwn(labels, name) ? String(labels[name]) : null),
    })),
  ]
}

/** A column's heading, which sorts by it. */
function sortable(label: string, order: SortOrder | null, { base, criteria, panel }: ListOptions): Markup {
  const className = order === 'duration' || order === null ? 'number' : 'number only-wide'
  if (criteria == null) return html`<th scope="col" class="${className}">${label}</th>`
  const { sort, page, ...others } = criteria
  const url = searchUrl(base, { ...others, ...(order !== null && { sort: order }) }, 1, panel)
  const isCurrent = (sort ?? null) === order
  return html`<th scope="col" class="${className}"${isCurrent && html` aria-sort="descending"`}><a href="${url}">${label}${isCurrent && ' ↓'}</a></th>`
}

/** The URL of a page of a search, whose profiles open at a panel. */
export function searchUrl(base: string, criteria: SearchCriteria, page: number, panel: string | undefined): string {
  const query = [searchQuery(criteria, page), panel === undefined ? '' : `panel=${urlPart(panel)}`]
  const parts = query.filter(part => part !== '')
  return `${base}/search${parts.length > 0 ? `?${parts.join('&')}` : ''}`
}

/** What can be done with two requests of a list. */
function pairOf() {
  return features.find(({ pair }) => pair !== undefined)?.pair
}

const pairForm = 'pair'
const longestName = 80

/** The box that chooses a request. */
function renderTick({ duration, method, token, url }: ProfileSummary): Content {
  const pair = pairOf()
  if (pair === undefined) return null
  const name = `${method} ${url.slice(0, longestName)} ${formatDuration(duration)}`
  return html`<input type="checkbox" form="${pairForm}" name="request" value="${token}" data-what="${name}" aria-label="${pair.label} ${name}" autocomplete="off">`
}

/** The form below a list for two ticked requests. */
function renderTray(base: string): Content {
  const pair = pairOf()
  if (pair === undefined) return null
  return html`<form class="tray row only-wide" id="${pairForm}" action="${base}/${pair.path}" aria-label="${pair.label} two requests"><b class="chosen cut" aria-live="polite">Tick two requests</b><button>${pair.label}</button><button type="button" class="clear" hidden>Clear</button></form>`
}

/** One row of the list. */
export function renderProfileRow(profile: ProfileSummary, origins: readonly Origin[], options: ListOptions): Markup {
  const { duration, method, queries, repeated, size, status, time, times, token, url } = profile
  const polls = options.polls?.[token] ?? null
  const tone = statusTone(status)
  return html`
<tr${polls !== null && html` class="polls"`} data-key="${status ?? '–'} ${method} ${url}"><td class="only-wide">${renderTick(profile)}</td><td><span class="badge ${tone}${tone === 'error' && ' solid'}" title="${statusText(status)}">${status ?? '–'}</span></td><th scope="row"><a href="${profileUrl(options.base, token, options.panel)}"><code>${method} ${readableUrl(url)}</code></a> <span class="notes">${renderNotes(profile, polls, options)}</span></th>${origins.map(({ valueOf }) => html`<td class="only-wide">${valueOf(profile)}</td>`)}<td class="number${duration >= slowRequestFrom && ' warning'}">${formatMilliseconds(duration)}</td><td class="only-wide"><svg width="96" height="8" aria-hidden="true">${renderPieces(stackedPieces(times), Math.max(duration, slowRequestFrom), 0, 8)}</svg></td><td class="number only-wide${repeated > 0 && ' warning'}">${queries.count > 0 && queries.count.toLocaleString('en')}</td><td class="number only-wide">${queries.count > 0 && formatMilliseconds(queries.duration)}</td><td class="number only-wide">${size !== null && size > 0 && alignNumber(size / 1000)}</td><td class="number muted">${renderAge(time)}</td></tr>`
}

/** A request takes remarkably long from this many times the median of its route on. */
const slowerFrom = 3

/** What is worth knowing about a request beside its URL. */
function renderNotes(profile: ProfileSummary, polls: number | null, { base, medians }: ListOptions): Content {
  const { duration, exception, failures, logErrors, method, outcome, repeated, repeatedWrites, route, status, url } =
    profile
  const said = outcomeText(outcome)
  const tone = statusTone(status)
  const times = Math.round(duration / (medians?.get(`${method} ${route}`) ?? Infinity))
  return [
    polls !== null &&
      html`<a href="${base}/search?method=${urlPart(method)}&amp;url=${urlPart(url)}">${count(polls, 'request')} at regular intervals</a> `,
    exception !== null && html`<span class="${tone}">${exception}</span> `,
    exception === null && status === 404 && route === null && html`<span class="muted">no route</span> `,
    times >= slowerFrom && html`<span class="muted">${times} × slower than its median</span> `,
    said !== null && html`<span class="muted">${said.toLowerCase()}</span> `,
    repeated > 0 &&
      html`<span class="warning">${repeatedWrites === true ? `${repeated.toLocaleString('en')} writes, one at a time` : `N+1: ${count(repeated, 'query', 'queries')} of one shape`}</span> `,
    counted(failures?.queries, 'failed query', 'failed queries'),
    counted(failures?.calls, 'failed call'),
    counted(failures?.errors, 'uncaught error'),
    counted(logErrors, 'logged error'),
  ]
}

function counted(amount: number | undefined, ...names: [one: string, many?: string]): Content {
  return amount !== undefined && amount > 0 && html`<span class="error">${count(amount, ...names)}</span> `
}
