import type { Profile } from '../../base/profile.ts'
import { timeKindOf } from '../../collect/exclusive-time.ts'

const spansShown = 50
const longestName = 80

/** A span for the browser's Performance panel: name, colour there, start and duration in milliseconds. */
type TrackEntry = readonly [name: string, colour: string, start: number, duration: number]

/** Colours of the Performance panel, by kind of time. */
const colours: Partial<Record<string, string>> = { hook: 'primary', handler: 'secondary', sql: 'tertiary' }

/** The longest spans of a request, in order, and its duration. */
export function serverTrack({ duration, spans }: Profile): { duration: number; entries: TrackEntry[] } {
  const longest = spans
    .map((span): TrackEntry => [
      span.name.slice(0, longestName),
      colours[timeKindOf(span)] ?? 'primary-light',
      span.start,
      span.duration,
    ])
    .sort(([, , , one], [, , , other]) => other - one)
    .slice(0, spansShown)
  return { duration, entries: longest.sort(([, , one], [, , other]) => one - other) }
}
