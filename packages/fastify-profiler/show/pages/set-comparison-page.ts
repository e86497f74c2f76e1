import { html, type Markup } from '../../base/html.ts'
import type { RequestSet, SetComparison } from '../../compare/compare-sets.ts'
import { hatchPattern, percent } from '../parts/bar.ts'
import { renderPairedStacks, renderSide } from '../parts/pair-bars.ts'
import { inputTime } from '../parts/search-query.ts'
import { setCaveat, setSentence, setSize } from '../parts/set-comparison-text.ts'
import { spreadRows, spreadText } from '../parts/spread-rows.ts'
import { renderTime } from '../parts/time.ts'
import { formatDuration } from '../parts/units.ts'
import { renderPage } from './page.ts'

/** A route before a moment (A) and since (B): the medians, the spread, and where the time went. */
export function renderSetComparisonPage(comparison: SetComparison, base: string): string {
  const { at, before, method, route, since } = comparison
  const caveat = setCaveat(comparison)
  const kinds = new Map(before.times)
  const kindsSince = new Map(since.times)
  const times = [...new Set([...kinds.keys(), ...kindsSince.keys()])].map(
    kind => [kind, kinds.get(kind) ?? 0, kindsSince.get(kind) ?? 0] as const,
  )
  return renderPage({
    title: `${setSentence(comparison)} · ${method} ${route.slice(0, 80)}`,
    base,
    main: html`${hatchPattern}<section aria-labelledby="verdict"><h1 id="verdict" class="headline">${setSentence(comparison)}</h1>
<p><code>${method} ${route}</code> before ${renderTime(at)} (${renderSide('A')} ${setSize(before)}) and since (${renderSide('B')} ${setSize(since)}).</p>
${caveat !== null && html`<p class="notice">${caveat}</p>`}
${renderMomentForm(comparison, base)}</section>
<section aria-labelledby="spread"><h2 id="spread">Spread <small>a tick a request, a long tick the median; one scale</small></h2>
${renderSpreads(before, since)}</section>
<section aria-labelledby="where"><h2 id="where">Where the time went <small>medians of each kind</small></h2>
${renderPairedStacks(times, before.duration.median, since.duration.median)}</section>
<section aria-labelledby="medians"><h2 id="medians">Medians <small>in brackets the middle half</small></h2>${renderMedians(comparison)}</section>`,
    footer: html`<p>A verdict needs eight requests on each side, and middle halves that do not overlap. Compared are at most 200 requests before and 200 since.</p>`,
  })
}

function renderMomentForm({ at, method, route }: SetComparison, base: string): Markup {
  return html`<form class="moment" action="${base}/compare"><input type="hidden" name="method" value="${method}"><input type="hidden" name="route" value="${route}"><label for="at">Moment (UTC)</label> <input id="at" type="datetime-local" step="1" name="at" value="${inputTime(at)}" required> <button>Compare</button></form>`
}

function renderSpreads(before: RequestSet, since: RequestSet): Markup {
  const scale = Math.max(before.duration.most, since.duration.most)
  return html`${renderTicks('A', before, scale)}
${renderTicks('B', since, scale)}`
}

function renderTicks(side: 'A' | 'B', { duration, durations }: RequestSet, scale: number): Markup {
  const { median, most } = duration
  const words = `${side}: median ${formatDuration(median)}, most ${formatDuration(most)}`
  return html`<div class="side-bar">${renderSide(side)}<svg class="ticks" role="img" aria-label="${words}"><line class="base" x1="0" x2="100%" y1="12" y2="12"/>${durations.map(time => renderTick(time, scale, 'each', 6))}${durations.length > 0 && renderTick(median, scale, 'median', 1)}</svg><span class="number">${durations.length > 0 ? formatDuration(median) : 'none'}</span></div>`
}

function renderTick(time: number, scale: number, className: string, y: number): Markup {
  const x = percent(time, scale)
  return html`<line class="${className}" x1="${x}" x2="${x}" y1="${y}" y2="${24 - y}"/>`
}

function renderMedians(comparison: SetComparison): Markup {
  return html`<table class="compared"><caption class="sr-only">Medians</caption><thead><tr><th scope="col">Measure</th><th scope="col">A</th><th scope="col">B</th></tr></thead>
<tbody>${spreadRows(comparison).map(
    ({ name, before, since, format }) => html`
<tr><th scope="row">${name}</th><td>${spreadText(before, format)}</td><td>${spreadText(since, format)}</td></tr>`,
  )}
</tbody></table>`
}
