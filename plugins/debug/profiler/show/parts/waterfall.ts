import type { ViewContext } from '../../collect/panel.ts'
import type { Profile, Span } from '../../base/profile.ts'
import { renderBadge } from './badge.ts'
import { renderEmptyState } from './empty-state.ts'
import { html, type Markup } from '../../base/html.ts'
import { renderLocation } from './location.ts'
import { spanColour, spanColours } from './span-kind.ts'
import { timelineRows, type TimelineRow } from './span-tree.ts'
import { count, formatDuration } from './units.ts'

const MAX_ROWS = 1000

/** Dispatch points and spans as bars on one time scale; SVG attributes, since the policy forbids inline styles. */
export function renderWaterfall(context: ViewContext): Markup {
  const { profile } = context
  const rows = timelineRows(profile)
  if (rows.length === 0) return renderEmptyState('Nothing was timed: the request failed before any hook ran.')
  const total = rows.reduce((latest, row) => Math.max(latest, row.start + row.duration), profile.duration)
  const left = rows.length - MAX_ROWS
  return html`${renderLegend(profile)}
<div class="scroll" role="region" aria-label="Timeline" tabindex="0"><table class="waterfall">
<caption class="sr-only">Timeline</caption>
<thead><tr><th scope="col">Name</th><th scope="col" class="number">Start</th><th scope="col" class="number">Duration</th><th scope="col" class="scale"><span>0</span> <span>${formatDuration(total)}</span></th></tr></thead>
<tbody>${rows.slice(0, MAX_ROWS).map(row => renderRow(row, total, context))}
</tbody></table></div>
${left > 0 && html`<p class="muted">${count(left, 'more row')} not shown.</p>`}`
}

function renderLegend({ spans }: Profile): Markup {
  const present = new Set(spans.map(span => spanColour(span.kind)))
  return html`<ul class="legend" aria-label="Kinds">${spanColours
    .filter(colour => present.has(colour))
    .map(
      colour => html`
<li><span class="swatch ${colour}"></span>${colour}</li>`,
    )}
</ul>`
}

function renderRow(row: TimelineRow, total: number, context: ViewContext): Markup {
  const colour = row.type === 'point' ? 'point' : spanColour(row.span.kind)
  const label =
    row.type === 'point' ? renderPoint(row.point.name, row.point.interrupted !== null) : renderSpan(row.span, context)
  return html`
<tr class="${row.type} depth-${row.depth}"><th scope="row">${label}</th><td class="number">${formatDuration(row.start)}</td><td class="number">${formatDuration(row.duration)}</td><td class="track">${renderBar(row.start, row.duration, total, colour)}</td></tr>`
}

function renderPoint(name: string, interrupted: boolean): Markup {
  return html`${name}${interrupted && html` ${renderBadge('interrupted', 'error')}`}`
}

function renderSpan(span: Span, context: ViewContext): Markup {
  const origin = [span.hook, span.plugin === null ? null : `plugin ${span.plugin}`]
    .filter(part => part !== null)
    .join(' · ')
  return html`<span class="swatch ${spanColour(span.kind)}"></span><span class="sr-only">${span.kind}: </span>${span.name}${span.outcome !== 'continued' && html` ${renderSpanOutcome(span)}`} <small>${origin}${span.routeLevel && ' · route'}${span.detail !== null && html` <code>${span.detail}</code>`}${span.location !== null && html` ${renderLocation(span.location, context)}`}</small>`
}

/** The badge of a span's outcome. */
export function renderSpanOutcome({ outcome }: Span): Markup {
  if (outcome === 'threw') return renderBadge(outcome, 'error')
  if (outcome === 'unfinished') return renderBadge(outcome, 'warning')
  return renderBadge(outcome, outcome === 'replied' ? 'good' : 'neutral')
}

function percent(part: number, total: number): string {
  return `${Math.round(Math.min(1, Math.max(0, total > 0 ? part / total : 0)) * 10_000) / 100}%`
}

function renderBar(start: number, duration: number, total: number, colour: string): Markup {
  // Wide enough to see, and never past the edge.
  const width = Math.max(duration, total * 0.003)
  return html`<svg aria-hidden="true" focusable="false"><rect class="bar ${colour}" x="${percent(Math.min(start, total - width), total)}" width="${percent(width, total)}" height="100%"/></svg>`
}
