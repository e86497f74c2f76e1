import type { DispatchPoint, Profile, Span } from '../../base/profile.ts'

/** A span and the spans nested in it. */
interface SpanNode {
  span: Span
  children: SpanNode[]
}

/** A row of the waterfall: a dispatch point or a span, with its depth. */
export type TimelineRow = { start: number; duration: number; depth: number } & (
  { type: 'point'; point: DispatchPoint } | { type: 'span'; span: Span }
)

const MAX_DEPTH = 12

/** Every span as a node, and the top-level ones. */
function spanTree(spans: readonly Span[]): { nodes: SpanNode[]; roots: SpanNode[] } {
  const nodes = spans.map(span => ({ span, children: [] }))
  const roots: SpanNode[] = []
  nodes.forEach((node: SpanNode, id) => {
    // A parent is recorded before its children; anything else would be a cycle.
    const parent = node.span.parent !== null && node.span.parent < id ? nodes[node.span.parent] : undefined
    const siblings: SpanNode[] = parent?.children ?? roots
    siblings.push(node)
  })
  return { nodes, roots }
}

function spanRows({ span, children }: SpanNode, depth: number): TimelineRow[] {
  const row: TimelineRow = { type: 'span', span, start: span.start, duration: span.duration, depth }
  return [row, ...children.flatMap(child => spanRows(child, Math.min(depth + 1, MAX_DEPTH)))]
}

/** Dispatch points by start time, with their listeners and the spans nested in those below them. */
export function timelineRows({ spans, lifecycle }: Profile): TimelineRow[] {
  const { roots } = spanTree(spans)
  const came = lifecycle.flatMap(point =>
    point.start === null ? [] : [{ point, start: point.start, duration: point.duration ?? 0 }],
  )
  const names = new Set<string | null>(came.map(({ point }) => point.name))
  const groups = came.map(({ point, start, duration }): TimelineRow[] => [
    { type: 'point', point, start, duration, depth: 0 },
    ...roots.filter(({ span }) => span.dispatchPoint === point.name).flatMap(node => spanRows(node, 1)),
  ])
  for (const node of roots) {
    if (!names.has(node.span.dispatchPoint)) groups.push(spanRows(node, 0))
  }
  return groups.sort(([a], [b]) => Number(a?.start) - Number(b?.start)).flat()
}

/** Each span with its self time: its duration without that of nested spans, which may overlap. */
export function ownTimes(spans: readonly Span[]): Array<{ span: Span; own: number }> {
  return spanTree(spans).nodes.map(({ span, children }) => ({
    span,
    own: Math.max(0, span.duration - covered(children.map(child => child.span))),
  }))
}

/** The time during which at least one of the spans ran. */
function covered(spans: readonly Span[]): number {
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
