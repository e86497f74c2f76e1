import type { SpanKind } from '../../base/profile.ts'

/** The colours of the waterfall; all kinds of handlers share one. */
export type SpanColour = 'hook' | 'handler' | 'validation' | 'query' | 'cache' | 'other'

/** In legend order. */
export const spanColours: readonly SpanColour[] = ['hook', 'validation', 'handler', 'query', 'cache', 'other']

/** The colour of a kind of span. */
export function spanColour(kind: SpanKind): SpanColour {
  if (kind === 'not-found-handler' || kind === 'error-handler') return 'handler'
  return kind
}
