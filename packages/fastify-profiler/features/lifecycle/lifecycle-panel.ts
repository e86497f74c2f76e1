import type { BuiltInPanel } from '../../core/panel.ts'
import type { DispatchPoint, Profile, Span } from '../../core/profile.ts'
import type { Block, Inline } from '../../core/view/block.ts'
import { formatDuration, formatMilliseconds } from '../../core/view/units.ts'
import { outcomeBadge } from '../performance/waterfall.ts'

/** A dispatch point with its listeners in the order they ran, and with its interruption. */
function pointSection(point: DispatchPoint, profile: Profile): Block {
  const { duration, hooks, interrupted, listeners, name, start } = point
  if (start === null) {
    return {
      section: name,
      blocks: [{ text: `Not reached. Hooks: ${hooks.join(', ')}.`, look: 'muted' }],
    }
  }
  const times = `started at ${formatDuration(start)} · took ${formatDuration(duration)}`
  const interruption = interruptionText(point, profile)
  return {
    section: [name, interrupted === null ? null : [' ', { badge: 'interrupted', tone: 'error' }]],
    count: listeners.length,
    blocks: [
      { text: `${hooks.join(', ')} · ${times}`, look: 'muted' },
      ...(interruption === null ? [] : [{ notice: interruption, tone: 'error' } as const]),
      {
        title: `Listeners of ${name}`,
        columns: [
          { label: '#', kind: 'number' },
          { label: 'Listener' },
          { label: 'ms', kind: 'number' },
          { label: 'Outcome', kind: 'short' },
        ],
        rows: listeners.flatMap((id, index) => {
          const span = profile.spans[id]
          if (span === undefined) return []
          return {
            className: interrupted?.span === id ? 'error' : '',
            cells: [index + 1, listenerName(span), formatMilliseconds(span.duration), outcomeBadge(span)],
          }
        }),
        empty: 'No listeners.',
      },
    ],
  }
}

/** A hook with where it comes from. */
function listenerName({ hook, location, name, plugin, routeLevel }: Span): Inline {
  const origin = [hook ?? 'error handler', plugin === null ? '' : ` · plugin ${plugin}`, routeLevel ? ' · route' : '']
  return [`${name} `, { small: [...origin, ' ', { place: location }] }]
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
function calledHandlers({ spans, exceptions, lifecycle }: Profile): ErrorHandling[] | null {
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

/** The error handlers in call order. The one with the outcome `replied` sent the response. */
function errorHandling(profile: Profile): Block[] {
  const called = calledHandlers(profile)
  if (called === null) return []
  return [
    {
      section: 'Error handling',
      ...(called.length > 0 && { count: called.length }),
      blocks: [
        {
          title: 'Error handlers',
          columns: [
            { label: 'Error handler' },
            { label: 'Exception' },
            { label: 'ms', kind: 'number' },
            { label: 'Outcome', kind: 'short' },
          ],
          rows: called.map(({ span, text }) => [
            listenerName(span),
            text,
            formatMilliseconds(span.duration),
            outcomeBadge(span),
          ]),
          empty: 'No application error handler was called.',
        },
      ],
    },
  ]
}

/** The dispatch points from kernel.request to kernel.finish_request, with their listeners. */
export const lifecyclePanel: BuiltInPanel<DispatchPoint[]> = {
  name: 'lifecycle',
  label: 'Lifecycle',
  read: ({ lifecycle }) => lifecycle,
  view: (points, { profile }) => [...points.map(point => pointSection(point, profile)), ...errorHandling(profile)],
}
