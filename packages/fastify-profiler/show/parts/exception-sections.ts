import type { ViewContext } from '../../collect/panel.ts'
import { renderEmptyState } from './empty-state.ts'
import { renderExceptions } from './exceptions.ts'
import { renderHeading, type HeadingLevel } from './heading.ts'
import { html, type Markup } from '../../base/html.ts'
import { renderLogTable } from './log-table.ts'
import { isRoutingFailure, renderNearMisses } from './near-misses.ts'
import { renderStackTraces } from './stack-trace.ts'

/**
 * The sections of a failed request, on its error page and in the profiler: Exceptions, Logs, Stack Traces.
 * `level` is the level of their headings.
 */
export function renderExceptionSections(context: ViewContext, level: HeadingLevel): Markup {
  const { profile, root } = context
  const { exceptions, logs } = profile
  const section = (id: string, title: Markup, body: Markup) => html`
<section id="${id}" aria-labelledby="${id}-title">${renderHeading(level, `${id}-title`, title)}
${body}</section>`
  const counted = (title: string, amount: number) => html`${title} <span class="count">${amount}</span>`
  const thrown =
    exceptions.length === 0
      ? renderEmptyState('No exception was thrown.')
      : renderExceptions(profile, context, level === 2 ? 3 : 4)
  const matches = html`Nearest routes`
  const isRouting = isRoutingFailure(profile)
  return html`${isRouting && section('matches', matches, renderNearMisses(profile, context))}
${section('exceptions', counted('Exceptions', exceptions.length), thrown)}
${section('logs', counted('Logs', logs.length), renderLogTable(profile, context))}
${section('stack-traces', counted('Stack Traces', exceptions.length), renderStackTraces(exceptions, root, !isRouting))}`
}
