import type { ProfileSummary } from '../base/summary.ts'

/** Fewer equal requests are not folded. */
const pollsFrom = 10
const shortestInterval = 500

/** Part of the intervals that have to be near the usual one. */
const regularPart = 0.8

/** The newest of each series of equal requests at regular intervals, with the number that it stands for. */
export interface FoldedPolls {
  profiles: ProfileSummary[]
  polls: Record<string, number>
}

/** Folds requests that a program repeats at regular intervals, such as health checks. @param found newest first */
export function foldPolls(found: readonly ProfileSummary[]): FoldedPolls {
  const series = new Map<string, ProfileSummary[]>()
  for (const summary of found) {
    const { exception, method, status, url } = summary
    if (status === null || status >= 400 || exception !== null) continue
    const key = `${status} ${method} ${url}`
    const known = series.get(key)
    if (known === undefined) series.set(key, [summary])
    else known.push(summary)
  }
  const folded = new Set<ProfileSummary>()
  const polls: Record<string, number> = {}
  for (const [newest, ...others] of series.values()) {
    if (newest === undefined || !isRegular([newest, ...others])) continue
    polls[newest.token] = others.length + 1
    for (const summary of others) folded.add(summary)
  }
  return { profiles: found.filter(summary => !folded.has(summary)), polls }
}

function isRegular(summaries: readonly ProfileSummary[]): boolean {
  if (summaries.length < pollsFrom) return false
  const intervals = summaries.slice(1).map(({ time }, index) => (summaries[index]?.time ?? time) - time)
  const usual = intervals.toSorted((one, other) => one - other)[Math.floor(intervals.length / 2)] ?? 0
  const regular = intervals.filter(interval => interval >= usual / 2 && interval <= usual * 1.5)
  return usual >= shortestInterval && regular.length >= intervals.length * regularPart
}
