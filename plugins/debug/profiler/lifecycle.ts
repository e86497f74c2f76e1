import { dispatchPointNames } from './profile.ts'
import type { DispatchPoint, DispatchPointName, Interruption, Span } from './profile.ts'

/** The Fastify hooks that make up each dispatch point. */
const hooks: Record<DispatchPointName, string[]> = {
  'kernel.request': ['onRequest', 'preParsing'],
  'kernel.controller': ['preValidation', 'preHandler'],
  'kernel.controller_arguments': ['preHandler of the route', 'handler'],
  'kernel.response': ['preSerialization', 'onSend'],
  'kernel.finish_request': ['onResponse']
}

/** Which exception each failed span threw: index by span id; under null, one that no span threw. */
export type ThrownBy = ReadonlyMap<number | null, number>

/** The five dispatch points of a request: when each came, what listened, and which was interrupted by what. */
export function describeLifecycle (
  spans: readonly Span[],
  marks: ReadonlyMap<DispatchPointName, number>,
  thrownBy: ThrownBy
): DispatchPoint[] {
  const points = dispatchPointNames.map(name => describePoint(name, spans, marks, thrownBy))
  const stray = thrownBy.get(null)
  // Fastify itself failed: on the URL before any hook, or on the input before the controller.
  if (stray !== undefined && points.every(point => point.interrupted === null)) {
    const [request, controller] = points
    const failed = request?.start === null ? request : controller
    if (failed !== undefined) failed.interrupted = { span: null, exception: stray }
  }
  return points
}

function describePoint (
  name: DispatchPointName,
  spans: readonly Span[],
  marks: ReadonlyMap<DispatchPointName, number>,
  thrownBy: ThrownBy
): DispatchPoint {
  const listeners: number[] = []
  let start = marks.get(name) ?? null
  let end = start
  let interrupted: Interruption | null = null
  spans.forEach((span, id) => {
    if (span.dispatchPoint !== name || span.kind !== 'hook') return
    listeners.push(id)
    start = Math.min(start ?? span.start, span.start)
    end = Math.max(end ?? 0, span.start + span.duration)
    const stopped = span.outcome === 'threw' || (span.outcome === 'replied' && name !== 'kernel.response')
    if (stopped && interrupted === null) interrupted = { span: id, exception: thrownBy.get(id) ?? null }
  })
  return { name, hooks: hooks[name], start, duration: start === null || end === null ? null : end - start, listeners, interrupted }
}
