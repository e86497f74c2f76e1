import { html, type Content, type Markup } from '../../base/html.ts'
import type { ViewContext } from '../../collect/panel.ts'
import type { ComparedRequest, Comparison, SpanPair, StatementPair, ValuePair } from '../../compare/comparison.ts'
import { differenceOf } from '../../compare/comparison.ts'
import { renderComparisonMarkdown } from '../markdown/comparison-markdown.ts'
import { hatchPattern } from '../parts/bar.ts'
import { renderChangeMark } from '../parts/change-mark.ts'
import { comparisonSentence, conclusionsOf, noiseText, pairName } from '../parts/comparison-text.ts'
import { renderEmptyState } from '../parts/empty-state.ts'
import { renderLocation } from '../parts/location.ts'
import { renderPairAxis, renderPairBar, renderPairedStacks, renderSide } from '../parts/pair-bars.ts'
import { comparisonUrl, profileUrl, setComparisonUrl } from '../parts/profile-url.ts'
import { renderRequestLine } from '../parts/request-line.ts'
import { renderKind } from '../parts/span-kind.ts'
import { renderTime } from '../parts/time.ts'
import { levelName, statusTone } from '../parts/tone.ts'
import { alignNumber, count, formatBytes, formatDuration, formatMilliseconds } from '../parts/units.ts'
import { renderPage } from './page.ts'

type Place = Pick<ViewContext, 'base' | 'root' | 'editorUrl'>

/** Rows shown without unfolding, and at most. */
const rowsOpen = 8
const rowsMost = 300
const longestValue = 200

/** Two requests side by side: first what changed, in words, then the times, statements and headers of both. */
export function renderComparisonPage(comparison: Comparison, place: Place): string {
  const { a, b, notes } = comparison
  return renderPage({
    title: `${comparisonSentence(comparison)} · ${b.method} ${b.url.slice(0, 80)}`,
    base: place.base,
    header: html`<div class="sides">${renderBand('A', a, place.base, null)}${renderBand('B', b, place.base, b.time - a.time)}</div>`,
    main: html`${hatchPattern}<section aria-labelledby="verdict"><div class="head"><h1 id="verdict" class="headline">${comparisonSentence(comparison)}</h1>${renderActions(comparison, place)}</div>
${notes.map(note => html`<p class="notice">${note}</p>`)}
${renderConclusions(comparison, place)}</section>
<section aria-labelledby="where"><h2 id="where">Where the time went <small>each millisecond counted once; one scale</small></h2>
${renderPairedStacks(comparison.times, a.duration, b.duration)}</section>
${renderTimelines(comparison, place)}
<div class="two"><section aria-labelledby="shapes"><h2 id="shapes">SQL by shape <small>count, ms</small></h2>${renderStatements(comparison.statements)}</section>
<section aria-labelledby="values"><h2 id="values">Headers and answer <small>only what differs</small></h2>${renderValues(comparison)}</section></div>
${renderLogs(comparison)}`,
    footer: html`<p>Spans are matched by kind, name and place. Noise: less than 0.3 ms or 5%, or a difference that requests like these have by chance.</p>`,
  })
}

function renderBand(side: 'A' | 'B', request: ComparedRequest, base: string, later: number | null): Markup {
  const { duration, queries, size, status, time, token } = request
  const facts: Array<readonly [name: string, value: Content]> = [
    ['Time', formatDuration(duration)],
    ...(queries.count > 0 ? [['SQL', `${queries.count} · ${formatDuration(queries.duration)}`] as const] : []),
    ...(size === null ? [] : [['Response', formatBytes(size)] as const]),
    ['When', html`${renderTime(time)}${later !== null && `, ${distanceText(later)}`}`],
    ['Token', html`<a href="${profileUrl(base, token)}"><code>${token}</code></a>`],
  ]
  return html`<section class="request ${statusTone(status)}" aria-label="Request ${side}"><div class="asked">${renderSide(side)}${renderRequestLine(request, null)}</div>
<dl class="facts" tabindex="0" aria-label="Facts of ${side}">${facts.map(([name, value]) => html`<div><dt>${name}</dt> <dd>${value}</dd></div>`)}</dl></section>`
}

function distanceText(milliseconds: number): string {
  return `${formatDuration(Math.abs(milliseconds))} ${milliseconds < 0 ? 'earlier' : 'later'}`
}

function renderActions(comparison: Comparison, { base, root }: Place): Markup {
  const { a, b } = comparison
  const { method, route } = b
  const isOneRoute = route !== null && a.route === route && a.method === method
  const later = Math.max(a.time, b.time)
  return html`<span class="right"><a class="button" href="${comparisonUrl(base, b.token, a.token)}">Swap A and B</a><button type="button" data-copy-text="${renderComparisonMarkdown(comparison, root)}" hidden>Copy as Markdown</button>${isOneRoute && html`<a class="button" href="${setComparisonUrl(base, method, route, later)}">Compare the whole route…</a>`}</span>`
}

function renderConclusions(comparison: Comparison, place: Place): Markup {
  return html`<ul class="findings">${conclusionsOf(comparison).map(
    ({ tone, claim, detail, location }) => html`
<li>${renderChangeMark(tone)}<p><b>${claim}</b> ${detail}</p>${location !== null && renderLocation(location, place)}</li>`,
  )}
<li><b class="muted" aria-hidden="true">=</b><p class="muted">${noiseText(comparison)}</p><a href="#timelines">Show them</a></li></ul>`
}

function renderTimelines({ a, b, spans }: Comparison, place: Place): Markup {
  const scale = Math.max(a.duration, b.duration)
  const changed = spans.filter(({ change }) => change !== null).length
  const open = spans.slice(0, Math.max(rowsOpen, Math.min(changed, rowsMost)))
  const folded = spans.slice(open.length, rowsMost)
  const left = spans.length - open.length - folded.length
  return html`<section aria-labelledby="timelines"><h2 id="timelines">Timelines <small>most changed first; upper bar A, lower bar B; ms</small></h2>
${spans.length === 0 ? renderEmptyState('Nothing was timed in either request.') : renderSpanTable('Timelines', open, scale, place)}
${folded.length > 0 && html`<details class="fold"><summary>${folded.length} more</summary>${renderSpanTable('More timelines', folded, scale, place)}</details>`}
${left > 0 && html`<p class="muted">${count(left, 'more row')} not shown.</p>`}</section>`
}

function renderSpanTable(caption: string, spans: readonly SpanPair[], scale: number, place: Place): Markup {
  return html`<table class="lines compared"><caption class="sr-only">${caption}</caption><colgroup><col><col class="where only-wide"><col class="ms"><col class="ms"><col class="change"><col class="bars only-wide"></colgroup>
<thead><tr><th scope="col">Span</th><th scope="col" class="only-wide">Called from</th><th scope="col" class="number">A</th><th scope="col" class="number">B</th><th scope="col" class="number">Change</th><th scope="col" class="only-wide">${renderPairAxis(scale)}</th></tr></thead>
<tbody>${spans.map(pair => renderSpanRow(pair, scale, place))}
</tbody></table>`
}

function renderSpanRow(pair: SpanPair, scale: number, place: Place): Markup {
  const { a, b, kind, location } = pair
  return html`
<tr><th scope="row">${renderKind(kind)}${renderCounts(pair)}${pairName(pair)}</th><td class="only-wide">${location !== null && renderLocation(location, place)}</td><td class="number">${renderMs(a?.time)}</td><td class="number">${renderMs(b?.time)}</td><td class="number">${renderChange(pair)}</td><td class="only-wide">${renderPairBar(pair, scale)}</td></tr>`
}

function renderCounts({ a, b }: SpanPair): Markup | null {
  const [before, after] = [a?.count ?? 0, b?.count ?? 0]
  if (before !== after) return html`<b>${before} × → ${after} ×</b> `
  return before > 1 ? html`<b>${before} ×</b> ` : null
}

function renderMs(time: number | undefined): Content {
  return time === undefined ? html`<span class="muted">none</span>` : formatMilliseconds(time)
}

function renderChange(pair: SpanPair): Markup {
  const { a, b, change } = pair
  if (change === null) return html`<span class="muted">within noise</span>`
  if (b === null) return html`<b>gone</b>`
  if (a === null) return html`<b>new</b>`
  const difference = differenceOf(pair)
  const sign = difference < 0 ? '−' : '+'
  return html`<b class="text-${difference < 0 ? 'good' : 'error'}">${sign}${alignNumber(Math.abs(difference))}</b>`
}

function renderStatements(statements: readonly StatementPair[]): Markup {
  if (statements.length === 0) return renderEmptyState('No query in either request.')
  const left = statements.length - rowsMost
  return html`<table class="lines compared"><caption class="sr-only">SQL by shape</caption><colgroup><col><col class="few"><col class="ms"><col class="few"><col class="ms"></colgroup>
<thead><tr><th scope="col">Statement</th><th scope="col" class="number">A</th><th scope="col" class="number">A ms</th><th scope="col" class="number">B</th><th scope="col" class="number">B ms</th></tr></thead>
<tbody>${statements.slice(0, rowsMost).map(
    ({ shape, a, b }) => html`
<tr><th scope="row" title="${shape.slice(0, longestValue)}"><code>${renderSided(shape, a !== null, b !== null)}</code></th><td class="number">${a?.count}</td><td class="number">${formatMilliseconds(a?.time)}</td><td class="number">${b?.count}</td><td class="number">${formatMilliseconds(b?.time)}</td></tr>`,
  )}
</tbody></table>${left > 0 && html`<p class="muted">${count(left, 'more statement')} not shown.</p>`}`
}

/** A text that only one side has is marked by a sign and a colour. */
function renderSided(text: string, isInA: boolean, isInB: boolean): Content {
  const shown = text.length > longestValue ? `${text.slice(0, longestValue)}…` : text
  if (!isInB) return html`<del>− ${shown}</del>`
  return isInA ? shown : html`<ins>+ ${shown}</ins>`
}

function renderValues({ a, b, values }: Comparison): Markup {
  const body: ValuePair[] =
    a.size === b.size ? [] : [{ name: 'body', of: 'response', a: sizeText(a.size), b: sizeText(b.size) }]
  const rows = [...values, ...body]
  if (rows.length === 0) return renderEmptyState('Nothing differs.')
  return html`<table class="lines compared"><caption class="sr-only">Headers and answer</caption><colgroup><col class="name"><col><col></colgroup>
<thead><tr><th scope="col">Name</th><th scope="col">A</th><th scope="col">B</th></tr></thead>
<tbody>${rows.slice(0, rowsMost).map(
    ({ name, of, a, b }) => html`
<tr><th scope="row"><code>${name}</code>${of === 'request' && html` <small>request</small>`}</th><td>${renderValue(a, b)}</td><td>${renderValue(b, a, true)}</td></tr>`,
  )}
</tbody></table>`
}

function renderValue(value: string | null, other: string | null, isInB = false): Markup {
  if (value === null) return html`<span class="muted">none</span>`
  return html`<code>${renderSided(value, !isInB || other !== null, isInB || other !== null)}</code>`
}

function sizeText(size: number | null): string | null {
  return size === null ? null : formatBytes(size)
}

function renderLogs({ logs }: Comparison): Markup | null {
  if (logs.length === 0) return null
  return html`<section aria-labelledby="lines"><h2 id="lines">Log lines <small>only what differs; numbers in messages do not count</small></h2>
<table class="lines compared"><caption class="sr-only">Log lines</caption><colgroup><col class="level"><col><col class="few"><col class="few"></colgroup>
<thead><tr><th scope="col">Level</th><th scope="col">Message</th><th scope="col" class="number">A</th><th scope="col" class="number">B</th></tr></thead>
<tbody>${logs.slice(0, rowsMost).map(
    ({ level, message, a, b }) => html`
<tr><td>${levelName(level)}</td><th scope="row">${renderSided(message, a > 0, b > 0)}</th><td class="number">${a}</td><td class="number">${b}</td></tr>`,
  )}
</tbody></table></section>`
}
