import type { BuiltInPanel, ViewContext } from '../../core/panel.ts'
import type { DispatchPoint, Profile, Span } from '../../core/profile.ts'
import { locationText, renderBadge, renderDataTable, renderLocation, renderSection } from '../../core/view/elements.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { blocks, code, plain, table } from '../../core/view/markdown.ts'
import { formatDuration, formatMilliseconds } from '../../core/view/units.ts'
import { renderSpanOutcome } from '../performance/waterfall.ts'

/** Each dispatch point with its listeners in the order they ran, and with its interruption. */
function renderDispatchPoints(context: ViewContext): Markup {
  return html`${context.profile.lifecycle.map(point => renderPoint(point, context))}`
}

function renderPoint(point: DispatchPoint, context: ViewContext): Markup {
  if (point.start === null) {
    return html`<section class="never"><h3>${point.name}</h3><p class="muted">Not reached. Hooks: ${point.hooks.join(', ')}.</p></section>`
  }
  const { spans } = context.profile
  const title = html`${point.name}${point.interrupted !== null && html` ${renderBadge('interrupted', 'error')}`}`
  return renderSection(
    title,
    html`<p class="muted">${point.hooks.join(', ')} · started at ${formatDuration(point.start)} · took ${formatDuration(point.duration)}</p>
${interruptionText(point, context.profile) !== null && html`<p class="notice error">${interruptionText(point, context.profile)}</p>`}
${renderDataTable(
  `Listeners of ${point.name}`,
  [
    { label: '#', kind: 'number' },
    { label: 'Listener' },
    { label: 'ms', kind: 'number' },
    { label: 'Outcome', kind: 'short' },
  ],
  point.listeners.flatMap((id, index) => {
    const span = spans[id]
    if (span === undefined) return []
    return {
      className: point.interrupted?.span === id ? 'interrupting' : '',
      cells: [
        index + 1,
        html`${span.name} <small>${span.hook}${span.plugin !== null && ` · plugin ${span.plugin}`}${span.routeLevel && ' · route'} ${renderLocation(span.location, context)}</small>`,
        formatMilliseconds(span.duration),
        renderSpanOutcome(span),
      ],
    }
  }),
  'No listeners.',
)}`,
    point.listeners.length,
  )
}

/** A sentence on what interrupted a dispatch point; null if nothing did. */
function interruptionText(point: DispatchPoint, { spans, exceptions }: Profile): string | null {
  const { interrupted, listeners } = point
  if (interrupted === null) return null
  const span = interrupted.span === null ? undefined : spans[interrupted.span]
  const exception = interrupted.exception === null ? undefined : exceptions[interrupted.exception]
  const itself = `by Fastify itself${listeners.length === 0 ? ', before any listener ran,' : ''}`
  const who =
    span !== undefined ? `by ${span.name}` : interrupted.span === null ? itself : 'by a listener that was not recorded'
  if (exception !== undefined) return `Interrupted ${who} with ${exception.class}: ${exception.message}`
  return `Interrupted ${who} with ${span?.outcome === 'replied' ? 'a response' : 'an error that was not recorded'}`
}

/** The error handlers that were called, each with its exception; null if nothing failed. */
function errorHandling({ spans, exceptions, lifecycle }: Profile): ErrorHandling[] | null {
  const called = spans.flatMap((span, id) => {
    if (span.kind !== 'error-handler' && span.hook !== 'onError') return []
    const exception = exceptions.find(({ handlers }) => handlers?.includes(id))
    return { span, text: exception === undefined ? null : `${exception.class}: ${exception.message}` }
  })
  const failed =
    called.length > 0 ||
    spans.some(({ outcome }) => outcome === 'threw') ||
    lifecycle.some(({ interrupted }) => interrupted?.exception != null)
  return failed ? called : null
}

interface ErrorHandling {
  span: Span
  /** The exception that it handled; null if that was not recorded. */
  text: string | null
}

const noErrorHandler = 'No application error handler was called.'

/** The error handlers in call order. The one with the outcome `replied` sent the response. */
function renderErrorHandling(context: ViewContext): Markup | null {
  const called = errorHandling(context.profile)
  if (called === null) return null
  if (called.length === 0) return renderSection('Error handling', html`<p class="muted">${noErrorHandler}</p>`)
  return renderSection(
    'Error handling',
    renderDataTable(
      'Error handlers',
      [
        { label: 'Error handler' },
        { label: 'Exception' },
        { label: 'ms', kind: 'number' },
        { label: 'Outcome', kind: 'short' },
      ],
      called.map(({ span, text }) => ({
        cells: [
          html`${span.name} <small>${span.hook ?? 'error handler'}${span.plugin !== null && ` · plugin ${span.plugin}`}${span.routeLevel && ' · route'} ${renderLocation(span.location, context)}</small>`,
          text ?? '',
          formatMilliseconds(span.duration),
          renderSpanOutcome(span),
        ],
      })),
      'None.',
    ),
    called.length,
  )
}

/** The dispatch points from kernel.request to kernel.finish_request, with their listeners. */
export const lifecyclePanel: BuiltInPanel<DispatchPoint[]> = {
  name: 'lifecycle',
  label: 'Lifecycle',
  read: ({ lifecycle }) => lifecycle,
  body: (_, context) => html`${renderDispatchPoints(context)}${renderErrorHandling(context)}`,
  markdown: (points, { profile, root }) =>
    blocks(
      ...points.map(point => {
        const interruption = interruptionText(point, profile)
        const listeners = point.listeners.flatMap(id => profile.spans[id] ?? [])
        return blocks(
          `### ${plain(point.name)}`,
          point.start === null
            ? 'Not reached.'
            : `${point.hooks.map(plain).join(', ')}, ${formatDuration(point.duration)}`,
          interruption === null ? null : plain(interruption),
          listeners.length === 0
            ? null
            : table(
                ['Listener', 'Hook', 'Registered at', 'Duration', 'Outcome'],
                listeners.map(span => [
                  plain(span.name),
                  plain(span.hook ?? ''),
                  span.location === null ? '' : code(locationText(span.location, root)),
                  formatDuration(span.duration),
                  span.outcome,
                ]),
              ),
        )
      }),
      errorHandlingMarkdown(profile, root),
    ),
}

function errorHandlingMarkdown(profile: Profile, root: string): string | null {
  const called = errorHandling(profile)
  if (called === null) return null
  return blocks(
    '### Error handling',
    called.length === 0
      ? noErrorHandler
      : table(
          ['Error handler', 'Exception', 'Registered at', 'Duration', 'Outcome'],
          called.map(({ span, text }) => [
            plain(span.name),
            plain(text ?? ''),
            span.location === null ? '' : code(locationText(span.location, root)),
            formatDuration(span.duration),
            span.outcome,
          ]),
        ),
  )
}
