import type { RequestSet, SetComparison } from '../../compare/compare-sets.ts'
import { othersNeeded } from '../../compare/noise.ts'
import { count, formatDuration } from './units.ts'

/** The comparison of a route in one sentence, with the medians. */
export function setSentence({ before, since, verdict }: SetComparison): string {
  if (before.durations.length === 0 || since.durations.length === 0) {
    return `Nothing to compare: ${count(before.durations.length, 'request')} before, ${since.durations.length} since`
  }
  const { change, difference } = verdict
  const claim = change === 'noise' ? 'Within noise' : `Since then ${formatDuration(Math.abs(difference))} ${change}`
  const hasQueries = before.queries.most + since.queries.most > 0
  const from = hasQueries ? `${count(before.queries.median, 'query', 'queries')}, ` : ''
  const to = hasQueries ? `${since.queries.median}, ` : ''
  return `${claim}: ${from}${formatDuration(before.duration.median)} → ${to}${formatDuration(since.duration.median)}`
}

/** What a reader has to know to believe the sentence; null if nothing. */
export function setCaveat({ before, since, verdict }: SetComparison): string | null {
  const least = Math.min(before.durations.length, since.durations.length)
  if (least < othersNeeded) return `A verdict on time needs ${othersNeeded} answered requests on each side.`
  if (verdict.change === 'noise') {
    return 'The middle halves of both sets overlap, or their medians are as good as equal.'
  }
  return null
}

/** How many requests a set has, and how many of them failed. */
export function setSize({ count: all, failed }: RequestSet): string {
  return `${count(all, 'request')}${failed > 0 ? `, ${failed} failed or unanswered` : ''}`
}
