import type { BuiltInPanel } from '../../core/panel.ts'
import type { DispatchPoint, Profile, Span } from '../../core/profile.ts'
import type { Block, Inline, Row } from '../../core/view/block.ts'
import { figures, renderIndent } from '../../core/view/elements.ts'
import { count, formatDuration, formatMilliseconds } from '../../core/view/units.ts'
import { errorText } from '../performance/failed-calls.ts'
import { kindView, timeKindOf } from '../performance/exclusive-time.ts'
import { outcomeBadge, renderAxis, renderTicks, renderTrack, waterfallScale } from '../performance/waterfall.ts'

const rowsMost = 500

/** A dispatch point, by the hooks that belong to it, with its listeners in the order they ran. */
function pointRows(point: DispatchPoint, profile: Profile): Row[] {
  const { duration, hooks, interrupted, listeners, name, start } = point
  const rowOf = (...cell: Inline[]): Row => ({ className: 'point', cells: [cell, null, null, null] })
  const what = [{ strong: hooks.join(', ') }, ' ', { small: name }, ' ']
  if (start === null || duration === null) return [rowOf(...what, { small: 'Not reached' })]
  const ran = [...listeners, ...(name === 'kernel.controller_arguments' ? handlersOf(profile) : [])]
  const end = interrupted === null ? null : { badge: 'interrupted', tone: 'error' as const }
  return [
    rowOf(...what, { small: `at ${formatDuration(start)}, hooks took ${formatDuration(duration)}` }, ' ', end),
    ...ran.slice(0, rowsMost).flatMap(id => spanRow(id, null, profile, interrupted?.span ?? null)),
    ...(ran.length > rowsMost ? [rowOf({ small: `${count(ran.length - rowsMost, 'more listener')} not shown.` })] : []),
  ]
}

/** The handler of a request: a listener of no hook, but what they are all for. */
function handlersOf({ spans }: Profile): number[] {
  return [...spans.keys()].filter(id => /^(?:not-found-)?handler$/.test(spans[id]?.kind ?? ''))
}

function spanTable(title: string, rows: readonly Row[], profile: Profile): Block {
  const head = renderAxis(waterfallScale(profile), profile.duration)
  const columns = [{ label: 'Function' }, { label: 'Place', kind: 'short' }, figures('ms')] as const
  return { title, lines: 'calls', columns: [...columns, { label: 'When', head, only: 'page' }], rows }
}

/** @param failed the one that ended the request */
function spanRow(id: number, text: string | null, profile: Profile, failed: number | null = null): Row[] {
  const span = profile.spans[id]
  if (span === undefined) return []
  const { duration, location, start } = span
  const pieces = [{ colour: kindView(timeKindOf(span)).colour, start, end: start + duration }]
  const bar = { html: renderTrack(pieces, waterfallScale(profile)), markdown: '' }
  const name = { html: renderIndent(1), markdown: '' }
  const cells = [[name, listenerName(span, text)], location && { place: location }, formatMilliseconds(duration), bar]
  return [{ className: failed === id ? 'error' : '', cells }]
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

function interruption(point: DispatchPoint, { spans, exceptions }: Profile): Block[] {
  const { interrupted } = point
  if (interrupted === null) return []
  const span = interrupted.span === null ? undefined : spans[interrupted.span]
  const exception = interrupted.exception === null ? undefined : exceptions[interrupted.exception]
  const unknown = interrupted.span === null ? 'by Fastify itself' : 'by a listener that was not recorded'
  const who = span === undefined ? unknown : `by ${span.name}`
  const response = span?.outcome === 'replied' ? 'a response' : 'an error that was not recorded'
  const what = exception === undefined ? response : errorText(exception)
  return [{ notice: `Interrupted ${who} with ${what}`, tone: 'error' }]
}

/** The error handlers in call order, each with its exception. The one with the outcome `replied` sent the response. */
function errorHandling(profile: Profile): Block[] {
  const { exceptions, lifecycle, spans } = profile
  const called = spans.flatMap((span, id) => {
    if (span.kind !== 'error-handler' && span.hook !== 'onError') return []
    const exception = exceptions.find(({ handlers }) => handlers?.includes(id))
    return spanRow(id, exception === undefined ? null : errorText(exception), profile)
  })
  const failed =
    called.length > 0 ||
    // Other frameworks answer errors that never reach Fastify.
    exceptions.some(({ spans = [] }) => spans.length > 0) ||
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
    ...points.flatMap(point => interruption(point, profile)),
    spanTable(
      'Dispatch points',
      points.flatMap(point => pointRows(point, profile)),
      profile,
    ),
    ...errorHandling(profile),
  ],
}
