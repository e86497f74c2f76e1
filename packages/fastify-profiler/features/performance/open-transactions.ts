import { lengthOf, type Interval, unblocked } from '../../core/intervals.ts'
import type { Location, Profile } from '../../core/profile.ts'

/** What a request waits for, and when. */
interface Wait extends Interval {
  /** "GET http://prices.example/ was under way". */
  text: string
  location: Location | null
}

/** Shorter pauses of a transaction, in milliseconds, hold up nobody: with a known reason, and without. */
const knownFrom = 10
const unknownFrom = 50

/** The transactions that were open, by their first query, while the request waited for something else. */
export function openTransactions({ database, eventLoop, http }: Profile) {
  if (database === null || database.transactions === 0) return []
  const queries = database.queries.map((query, index) => {
    const { blocked, duration, start, waited } = query
    return { ...query, number: index + 1, end: start + waited + blocked + (duration ?? 0) }
  })
  const waits: Wait[] = [
    ...(http?.calls ?? []).map(({ blocked, duration, head, location, method, start, url }) => {
      const end = start + blocked + (head ?? duration ?? Infinity)
      return { start, end, text: `${method} ${url.replace(/\?.*/, '')} was under way`, location }
    }),
    ...queries.map(({ location, number, start, waited }) => {
      return { start, end: start + waited, text: `query ${number} waited for a connection`, location }
    }),
  ]
  return Array.from({ length: database.transactions }, (_, index) => {
    const [first, ...later] = queries.filter(({ transaction }) => transaction === index + 1)
    if (first === undefined) return []
    let { end } = first
    const pauses = later.map(({ end: ended, location, start }): Wait => {
      const pause = { start: end, end: start, text: 'none of its queries ran', location }
      end = Math.max(end, ended)
      return pause
    })
    // Others only ran beside it.
    const isWithin = (wait: Wait) => pauses.some(({ start, end }) => wait.start >= start && wait.end <= end)
    const within = waits.filter(wait => wait.end > wait.start && isWithin(wait))
    const isKnown = lengthOf(within) >= knownFrom
    const found = (isKnown ? within : pauses)
      .flatMap(wait => unblocked(wait, eventLoop.blocked).map(part => ({ ...wait, ...part })))
      .sort((one, other) => other.end - other.start - one.end + one.start)
    const time = lengthOf(found)
    const [longest] = found
    if (longest === undefined || time < (isKnown ? knownFrom : unknownFrom)) return []
    const others = new Set(found.map(({ text }) => text)).size - 1
    const meanwhile = `${longest.text}${others === 0 ? '' : `, and ${others} more`}`
    return [{ query: first.number, meanwhile, time, location: longest.location }]
  }).flat()
}
