import { type DispatchPoint, type DispatchPointName, dispatchPointNames, type Span, toMicroseconds } from './profile.ts'

const hooks: Record<DispatchPointName, string[]> = {
  'kernel.request': ['onRequest', 'preParsing'],
  'kernel.controller': ['preValidation', 'preHandler'],
  'kernel.controller_arguments': ['preHandler of the route', 'handler'],
  'kernel.response': ['preSerialization', 'onSend'],
  'kernel.finish_request': ['onResponse'],
}

/** Maps what failed to the index of its exception in the profile. */
export interface Origins {
  /** By span id. */
  spans: ReadonlyMap<number, number>
  /** By the dispatch point in which Fastify itself failed. */
  phases: ReadonlyMap<DispatchPointName, number>
}

/** The stored form of a dispatch point. The rest is constant, or follows from the spans. */
export type StoredPoint = [
  name: DispatchPointName,
  start: DispatchPoint['start'],
  duration: DispatchPoint['duration'],
  interrupted: DispatchPoint['interrupted'],
]

export function storedPoints(points: readonly DispatchPoint[]): StoredPoint[] {
  return points.map(({ name, start, duration, interrupted }) => [name, start, duration, interrupted])
}

export function pointsOf(stored: readonly StoredPoint[], spans: readonly Span[]): DispatchPoint[] {
  const points = stored.map(([name, start, duration, interrupted]): DispatchPoint => {
    return { name, hooks: hooks[name], start, duration, listeners: [], interrupted }
  })
  for (const [id, { dispatchPoint, kind }] of spans.entries()) {
    if (kind === 'hook') points.find(({ name }) => name === dispatchPoint)?.listeners.push(id)
  }
  return points
}

/** Describes the five dispatch points of a request: their times, listeners and interruptions. */
export function describeLifecycle(
  spans: readonly Span[],
  marks: ReadonlyMap<DispatchPointName, number>,
  origins: Origins,
): DispatchPoint[] {
  return pointsOf(
    dispatchPointNames.map(name => describePoint(name, spans, marks, origins)),
    spans,
  )
}

function describePoint(
  name: DispatchPointName,
  spans: readonly Span[],
  marks: ReadonlyMap<DispatchPointName, number>,
  origins: Origins,
): StoredPoint {
  let start = marks.get(name) ?? null
  let end = start
  let interrupted: DispatchPoint['interrupted'] = null
  spans.forEach((span, id) => {
    if (span.dispatchPoint !== name || (span.kind !== 'hook' && span.kind !== 'validation')) return
    start = Math.min(start ?? span.start, span.start)
    end = Math.max(end ?? 0, span.start + span.duration)
    const stopped = span.outcome === 'threw' || (span.outcome === 'replied' && name !== 'kernel.response')
    if (stopped && interrupted === null) {
      interrupted = { span: id, exception: span.outcome === 'threw' ? (origins.spans.get(id) ?? null) : null }
    }
  })
  const failed = origins.phases.get(name)
  if (interrupted === null && failed !== undefined) interrupted = { span: null, exception: failed }
  if (start === null || end === null) return [name, null, null, interrupted]
  return [name, toMicroseconds(start), toMicroseconds(end - start), interrupted]
}
