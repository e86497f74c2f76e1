const figures = new Intl.NumberFormat('en', { maximumSignificantDigits: 3, useGrouping: false })

/** Formats milliseconds: 0.42 ms, 15 ms, 1.2 s. */
export function formatDuration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return 'n/a'
  const seconds = Math.round(ms / 1000)
  if (seconds >= 60) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  if (ms >= 1000) return `${figures.format(ms / 1000)} s`
  if (ms > 0 && ms < 0.01) return '< 0.01 ms'
  return `${figures.format(Math.round(ms * 100) / 100)} ms`
}

/** Formats bytes: 312 B, 7.5 kB, 4.2 MB. */
export function formatBytes(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined || !Number.isFinite(bytes)) return 'n/a'
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1_000_000) return `${figures.format(bytes / 1000)} kB`
  if (bytes < 1_000_000_000) return `${figures.format(bytes / 1_000_000)} MB`
  return `${figures.format(bytes / 1_000_000_000)} GB`
}

/** Formats a time in UTC, since server and reader may be in different time zones: 2026-11-21 01:11:07.482 UTC. */
export function formatTime(time: number): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return 'n/a'
  return `${date.toISOString().replace('T', ' ').replace('Z', '')} UTC`
}

/** A count with its noun: 1 query, 2 queries. */
export function count(number: number, singular: string, plural = `${singular}s`): string {
  return `${number} ${number === 1 ? singular : plural}`
}
