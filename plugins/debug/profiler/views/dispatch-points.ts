import type { ViewContext } from '../panel.ts'
import type { DispatchPoint, Profile } from '../profile.ts'
import { renderBadge } from './badge.ts'
import { renderDataTable } from './data-table.ts'
import { html, type Markup } from './html.ts'
import { renderLocation } from './location.ts'
import { renderSection } from './section.ts'
import { formatDuration } from './units.ts'
import { renderSpanOutcome } from './waterfall.ts'

/** Each dispatch point with its listeners in the order they ran, and what interrupted it. */
export function renderDispatchPoints (context: ViewContext): Markup {
  return html`${context.profile.lifecycle.map(point => renderPoint(point, context))}`
}

function renderPoint (point: DispatchPoint, context: ViewContext): Markup {
  if (point.start === null) {
    return html`<section class="never"><h3>${point.name}</h3><p class="muted">Never came. Stands for ${point.hooks.join(', ')}.</p></section>`
  }
  const { spans } = context.profile
  const title = html`${point.name}${point.interrupted !== null && html` ${renderBadge('interrupted', 'error')}`}`
  return renderSection(title, html`<p class="muted">${point.hooks.join(', ')} · from ${formatDuration(point.start)} · ${formatDuration(point.duration)}</p>
${interruptionText(point, context.profile) !== null && html`<p class="notice error">${interruptionText(point, context.profile)}</p>`}
${renderDataTable(`Listeners of ${point.name}`, [
    { label: '#', kind: 'number' },
    { label: 'Listener' },
    { label: 'Time', kind: 'number' },
    { label: 'Outcome', kind: 'short' }
  ], point.listeners.flatMap((id, index) => {
    const span = spans[id]
    if (span === undefined) return []
    return {
      className: point.interrupted?.span === id ? 'interrupting' : '',
      cells: [
        index + 1,
        html`${span.name} <small>${span.hook}${span.plugin !== null && ` · plugin ${span.plugin}`}${span.routeLevel && ' · route'} ${renderLocation(span.location, context)}</small>`,
        formatDuration(span.duration),
        renderSpanOutcome(span)
      ]
    }
  }), 'No listener.')}`, point.listeners.length)
}

/** A sentence on what stopped a dispatch point; null where nothing did. */
export function interruptionText ({ interrupted }: DispatchPoint, { spans, exceptions }: Profile): string | null {
  if (interrupted === null) return null
  const span = interrupted.span === null ? undefined : spans[interrupted.span]
  const who = span === undefined ? 'before any listener ran' : `by ${span.name}`
  const exception = interrupted.exception === null ? undefined : exceptions[interrupted.exception]
  const what = exception === undefined ? 'an answer' : exception.class
  return `Interrupted ${who} with ${what}${exception === undefined ? '' : `: ${exception.message}`}`
}
