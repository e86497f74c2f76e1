import type { BuiltInPanel } from '../../core/panel.ts'
import type { DispatchPoint, Profile, Span } from '../../core/profile.ts'
import type { Block, Inline } from '../../core/view/block.ts'
import { figures } from '../../core/view/elements.ts'
import { formatDuration, formatMilliseconds } from '../../core/view/units.ts'
import { kindView, timeKindOf } from '../performance/exclusive-time.ts'
import { outcomeBadge, renderAxis, renderTicks, renderTrack, waterfallScale } from '../performance/waterfall.ts'

/** A dispatch point, by the hooks that belong to it, with its listeners in the order they ran and its interruption. */
function pointSection(point: DispatchPoint, profile: Profile): Block {
  const { duration, hooks, interrupted, listeners, name, start } = point
  const heading: Inline = [hooks.join(', '), ' ', { small: name }]
  if (start === null) return { section: heading, blocks: [{ text: 'Not reached.', look: 'muted' }] }
  const interruption = interruptionText(point, profile)
  const ran = [...listeners, ...(name === 'kernel.controller_arguments' ? handlersOf(profile) : [])]
  return {
    section: [heading, interrupted === null ? null : [' ', { badge: 'interrupted', tone: 'error' }]],
    note: `at ${formatDuration(start)}, hooks took ${formatDuration(duration)}`,
    blocks: [
      ...(interruption === null ? [] : [{ notice: interruption, tone: 'error' } as const]),
      spanTable(
        `Listeners of ${name}`,
        ran.map(id => [id, null]),
        profile,
        interrupted?.span ?? null,
      ),
    ],
  }
}

/** The handler of a request: a listener of no hook, but what they are all for. */
function handlersOf({ spans }: Profile): number[] {
  return [...spans.keys()].filter(id => /^(?:not-found-)?handler$/.test(spans[id]?.kind ?? ''))
}

type Listed = readonly [id: number, text: string | null]

/** Spans with their bars on the scale of the request. @param failed the one that ended the request */
function spanTable(title: string, listed: readonly Listed[], profile: Profile, failed: number | null = null): Block {
  const scale = waterfallScale(profile)
  return {
    title,
    lines: 'calls',
    columns: [
      { label: 'Function' },
      { label: 'Place', kind: 'short' },
      figures('ms'),
      { label: 'When', head: renderAxis(scale, profile.duration), only: 'page' },
    ],
    rows: listed.flatMap(([id, text]) => {
      const span = profile.spans[id]
      if (span === undefined) return []
      const { colour } = kindView(timeKindOf(span))
      const pieces = [{ colour, start: span.start, end: span.start + span.duration }]
      const bar = { html: renderTrack(pieces, scale), markdown: '' }
      const cells = [listenerName(span, text), { place: span.location }, formatMilliseconds(span.duration), bar]
      return { className: failed === id ? 'error' : '', cells }
    }),
    empty: 'No listeners.',
  }
}

/** A function with where it comes from, and how it ended if it did not just go on. */
function listenerName(span: Span, text: string | null): Inline {
  const { hook, kind, name, outcome, plugin, routeLevel } = span
  const origin = [hook ?? kind.replaceAll('-', ' '), plugin === null ? '' : ` · plugin ${plugin}`]
  return [
    `${name} `,
    { small: [...origin, routeLevel ? ' · route' : ''] },
    outcome === 'continued' ? null : [' ', outcomeBadge(span)],
    text === null ? null : ` ${text}`,
  ]
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

/** The error handlers in call order, each with its exception. The one with the outcome `replied` sent the response. */
function errorHandling(profile: Profile): Block[] {
  const { exceptions, lifecycle, spans } = profile
  const called = spans.flatMap((span, id): Listed[] => {
    if (span.kind !== 'error-handler' && span.hook !== 'onError') return []
    const exception = exceptions.find(({ handlers }) => handlers?.includes(id))
    return [[id, exception === undefined ? null : `${exception.class}: ${exception.message}`]]
  })
  const failed =
    called.length > 0 ||
    spans.some(({ outcome }) => outcome === 'threw') ||
    lifecycle.some(({ interrupted }) => interrupted?.exception != null)
  if (!failed) return []
  const blocks =
    called.length > 0
      ? [spanTable('Error handlers', called, profile)]
      : [{ text: 'No application error handler was called.', look: 'muted' } as const]
  return [{ section: 'Error handling', blocks }]
}

/** The dispatch points from kernel.request to kernel.finish_request, with their listeners. */
export const lifecyclePanel: BuiltInPanel<DispatchPoint[]> = {
  name: 'lifecycle',
  label: 'Lifecycle',
  read: ({ lifecycle }) => lifecycle,
  view: (points, { profile }) => [
    { html: renderTicks(waterfallScale(profile)), markdown: '' },
    ...points.map(point => pointSection(point, profile)),
    ...errorHandling(profile),
  ],
}
