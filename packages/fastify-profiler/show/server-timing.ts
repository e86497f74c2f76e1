import type { Span } from '../base/profile.ts'
import type { Recorder } from '../watch/recorder.ts'

/** The Server-Timing header: the token and the duration so far, in total and by dispatch point. */
export function serverTiming(recorder: Recorder): string {
  const sums = new Map<string, number>()
  for (const span of recorder.spans) {
    const name = timingName(span)
    const parent = span.parent === null ? undefined : recorder.spans[span.parent]
    // The parent's duration includes it.
    if (parent !== undefined && timingName(parent) === name) continue
    sums.set(name, (sums.get(name) ?? 0) + span.duration)
  }
  const parts = [`token;desc="${recorder.token}"`, `total;dur=${hundredths(recorder.now())}`]
  for (const [name, sum] of sums) parts.push(`${name};dur=${hundredths(sum)}`)
  return parts.join(', ')
}

function timingName({ dispatchPoint, kind }: Span): string {
  return dispatchPoint ?? (kind === 'hook' ? 'other' : kind)
}

function hundredths(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100
}
