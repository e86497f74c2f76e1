import type { ViewContext } from '../panel.ts'
import { renderEmptyState } from './empty-state.ts'
import { renderExceptions } from './exceptions.ts'
import { html, type Markup } from './html.ts'
import { isRoutingFailure, renderNearMisses } from './near-misses.ts'
import { renderSection } from './section.ts'
import { renderStackTraces } from './stack-trace.ts'

/** The body of the exception panel: what the profile page embeds and `/exception` answers. */
export function renderExceptionPanel (context: ViewContext): Markup {
  const { profile, root } = context
  if (profile.exceptions.length === 0) return renderEmptyState('Nothing was thrown during this request.')
  return html`${isRoutingFailure(profile) && renderSection('What would have matched', renderNearMisses(profile, context))}
${renderExceptions(profile, context)}
${renderSection('Stack traces', renderStackTraces(profile.exceptions, root), profile.exceptions.length)}`
}
