import { toMicroseconds } from '../base/microseconds.ts'
import type { Span, SpanKind } from '../base/profile.ts'
import type { Mask } from '../mask/mask.ts'
import { maskQuery } from '../mask/mask-query.ts'

/** Spans whose names may contain secrets. The names of all others are those of functions. */
const panelSpans = new Set<SpanKind>(['query', 'http', 'cache', 'other'])

/** Masks and rounds spans in place, because copies are slow. Doing it twice is harmless. */
export function maskSpans(spans: readonly Span[], mask: Mask): void {
  for (const span of spans) {
    span.start = toMicroseconds(span.start)
    span.duration = toMicroseconds(span.duration)
    if (span.detail !== null) span.detail = withoutValues(span.kind, mask.text(span.detail))
    if (panelSpans.has(span.kind)) span.name = mask.text(span.name)
  }
}

/** A query may contain a secret that is only told by its column. */
function withoutValues(kind: SpanKind, detail: string): string {
  return kind === 'query' ? maskQuery(detail, []).sql : detail
}
