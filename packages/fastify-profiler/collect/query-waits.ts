import type { Profile, Query, Span } from '../base/profile.ts'

/** Shorter waits are not worth telling apart from their queries. */
const shortest = 0.05

/** A wait of a query for a connection. */
export interface QueryWait {
  start: number
  end: number
}

/**
 * The times in which queries waited for a connection: at the beginning of a query that a builder began, or before one
 * that a driver began.
 */
export function queryWaits({ database, spans }: Pick<Profile, 'database' | 'spans'>): QueryWait[] {
  const queries = (database?.queries ?? []).filter(({ waited }) => waited >= shortest)
  const ofQueries = spans.filter(({ kind }) => kind === 'query')
  return queries.map(query => {
    const { start, waited } = query
    const isWithin = ofQueries.some(span => contains(span, query))
    return isWithin ? { start, end: start + waited } : { start: start - waited, end: start }
  })
}

/** Whether a span is that of a query together with its wait. */
function contains(span: Span, { start, duration, waited }: Query): boolean {
  const tolerance = shortest / 2
  return Math.abs(span.start - start) <= tolerance && span.duration >= waited + (duration ?? 0) - tolerance
}
