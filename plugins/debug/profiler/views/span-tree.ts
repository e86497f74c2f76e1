import type { DispatchPoint, Profile, Span } from '../profile.ts'

/** One line of the waterfall: a dispatch point or a span, and how deep it stands. */
export type TimelineRow =
  | { type: 'point', point: DispatchPoint, start: number, duration: number, depth: 0 }
  | { type: 'span', span: Span, id: number, start: number, duration: number, depth: number }

/** Spans by the id of the span they ran within; null holds those that ran within none. */
function childrenOf (spans: readonly Span[]): Map<number | null, number[]> {
  const children = new Map<number | null, number[]>()
  spans.forEach(({ parent }, id) => {
    // A parent is always recorded before its children; anything else would be a circle.
    const key = parent !== null && parent < id ? parent : null
    const list = children.get(key)
    if (list === undefined) children.set(key, [id])
    else list.push(id)
  })
  return children
}

/** Dispatch points in order of time, their listeners below them, and below each what ran within it. */
export function timelineRows ({ spans, lifecycle }: Profile): TimelineRow[] {
  const children = childrenOf(spans)
  const rows: TimelineRow[] = []
  const add = (id: number, depth: number): void => {
    const span = spans[id]
    if (span === undefined) return
    rows.push({ type: 'span', span, id, start: span.start, duration: span.duration, depth })
    for (const child of children.get(id) ?? []) add(child, Math.min(depth + 1, 12))
  }
  const roots = children.get(null) ?? []
  const groups: Array<{ start: number, add: () => void }> = []
  for (const point of lifecycle) {
    const { start, duration } = point
    if (start === null) continue
    groups.push({
      start,
      add: () => {
        rows.push({ type: 'point', point, start, duration: duration ?? 0, depth: 0 })
        for (const id of roots) if (spans[id]?.dispatchPoint === point.name) add(id, 1)
      }
    })
  }
  const reached = new Set(lifecycle.filter(point => point.start !== null).map(point => point.name))
  for (const id of roots) {
    const span = spans[id]
    if (span === undefined || (span.dispatchPoint !== null && reached.has(span.dispatchPoint))) continue
    groups.push({ start: span.start, add: () => add(id, 0) })
  }
  for (const group of groups.sort((a, b) => a.start - b.start)) group.add()
  return rows
}

/** Each span's own time: its duration less that of what ran within it, which may have run side by side. */
export function ownTimes (spans: readonly Span[]): number[] {
  const own = spans.map(span => span.duration)
  for (const [parent, ids] of childrenOf(spans)) {
    if (parent === null) continue
    own[parent] = Math.max(0, (own[parent] ?? 0) - covered(ids.map(id => spans[id]).filter(span => span !== undefined)))
  }
  return own
}

/** The time in which at least one of the spans ran. */
function covered (spans: readonly Span[]): number {
  let total = 0
  let end = -Infinity
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    const from = Math.max(span.start, end)
    const until = span.start + span.duration
    if (until > from) total += until - from
    end = Math.max(end, until)
  }
  return total
}
