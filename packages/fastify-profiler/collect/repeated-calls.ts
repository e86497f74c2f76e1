import type { Span } from '../base/profile.ts'
import { coveredTime } from './covered-time.ts'

/** The same operation, called by the same function from the same line. */
export interface RepeatedCall {
  /** Ids of the spans, in order. */
  ids: number[]
  first: Span
  /** The time during which at least one of them ran. */
  time: number
}

const operations = new Set<string>(['query', 'http', 'cache', 'other'])

/** Whether a span is an operation that a function waits for, and not a function of the application. */
export function isOperation({ kind }: Pick<Span, 'kind'>): boolean {
  return operations.has(kind)
}

/** Gathers the operations of a request, one entry for each that a line repeats. */
export function gatherCalls(spans: readonly Span[]): RepeatedCall[] {
  const byPlace = new Map<string, { ids: number[]; first: Span; spans: Span[] }>()
  spans.forEach((span, id) => {
    if (!isOperation(span)) return
    const { location } = span
    const place = location === null ? null : [location.file, location.line, location.column]
    const key = JSON.stringify([span.kind, span.parent, span.name, span.detail, place])
    const known = byPlace.get(key)
    if (known === undefined) byPlace.set(key, { ids: [id], first: span, spans: [span] })
    else {
      known.ids.push(id)
      known.spans.push(span)
    }
  })
  return [...byPlace.values()].map(({ ids, first, spans }) => ({ ids, first, time: coveredTime(spans) }))
}
