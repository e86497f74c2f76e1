import { toMicroseconds } from '../base/microseconds.ts'
import type { Span, SpanKind } from '../base/profile.ts'
import type { Mask } from '../mask/mask.ts'

/** Panels record these, under names of their own making; the names of all others are those of functions. */
const panelSpans = new Set<SpanKind>(['query', 'cache', 'other'])

/** Masks and rounds spans in place, which is harmless when done twice: copies were a third of what a profile costs. */
export function maskSpans(spans: readonly Span[], mask: Mask): void {
  for (const span of spans) {
    span.start = toMicroseconds(span.start)
    span.duration = toMicroseconds(span.duration)
    if (span.detail !== null) span.detail = mask.text(span.detail)
    if (panelSpans.has(span.kind)) span.name = mask.text(span.name)
  }
}
