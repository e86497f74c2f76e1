import type { ProfileSummary } from '../base/summary.ts'
import { type ComparedRequest, type SpanPair, type Verdict, differenceOf } from './comparison.ts'

/** Smaller differences are noise, in milliseconds and as a part of the longer time. */
const leastDifference = 0.3
const leastPart = 0.05

/** So many other requests tell what is usual. */
export const othersNeeded = 8

/** A change in calls explains a difference if it makes up this part of it. */
const explainedFrom = 0.5

/** A span took part in a difference if it makes up this part of it. */
const takingPartFrom = 0.1

/** Requests that did the same as the earlier of two before it, and the same as the later one after it. */
export interface Others {
  before: readonly ProfileSummary[]
  after: readonly ProfileSummary[]
}

/** Whether two times differ by more than a clock, a processor cache or a scheduler explains. */
export function isNotable(one: number, other: number): boolean {
  return Math.abs(one - other) > Math.max(leastDifference, leastPart * Math.max(one, other))
}

/**
 * Judges whether B took longer or shorter than A. How noise is judged:
 *
 * - A difference under 0.3 ms or under 5 % of the longer time is noise.
 * - If one request made calls that the other did not, and these make up at least half of the difference, it is real.
 * - Otherwise chance may explain it, which only ever adds time: a garbage collection, a cold cache, a busy machine. So
 *   the quicker one must be quicker than each of at least eight requests like the slower one, the slower one among
 *   them, by more than these differ from each other (their median less their least).
 *
 * So two equal requests get no verdict, however far apart their times are.
 */
export function judge(a: ComparedRequest, b: ComparedRequest, spans: readonly SpanPair[], others: Others): Verdict {
  const difference = b.duration - a.duration
  const noise: Verdict = { change: 'noise', difference, because: null }
  if (!isNotable(a.duration, b.duration)) return noise
  const change = difference < 0 ? 'faster' : 'slower'
  const ofCalls = spans.filter(pair => pair.change === 'calls').reduce((sum, pair) => sum + differenceOf(pair), 0)
  if (ofCalls / difference >= explainedFrom) return { change, difference, because: 'calls' }
  const [quicker, slower] = difference < 0 ? [b, a] : [a, b]
  const peers = slower.time <= quicker.time ? others.before : others.after
  const isQuicker = quicker.duration < usualLeast([slower.duration, ...peers.map(({ duration }) => duration)])
  return isQuicker ? { change, difference, because: 'others' } : noise
}

/** The time that chance alone does not go below; 0 if too few times tell. */
function usualLeast(times: readonly number[]): number {
  if (times.length < othersNeeded) return 0
  const sorted = times.toSorted((one, other) => one - other)
  const [least = 0] = sorted
  const spread = (sorted[Math.floor(sorted.length / 2)] ?? least) - least
  return least - Math.max(spread, leastDifference, leastPart * least)
}

/** Marks the spans that took part in a difference of the whole request. */
export function markChanges(spans: readonly SpanPair[], { change, difference }: Verdict): SpanPair[] {
  if (change === 'noise') return [...spans]
  return spans.map(pair => {
    const takesPart = differenceOf(pair) / difference >= takingPartFrom
    const isLonger = isNotable(pair.a?.time ?? 0, pair.b?.time ?? 0)
    return pair.change === null && takesPart && isLonger ? { ...pair, change: 'time' } : pair
  })
}
