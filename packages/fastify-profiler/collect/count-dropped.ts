import type { ProfileBounds } from '../base/bounds.ts'
import type { Dropped } from '../base/profile.ts'
import type { Mask } from '../mask/mask.ts'
import { secretsLearned, valuesLearned, type RequestSecrets } from '../mask/request-secrets.ts'
import { notesKept, type Recorder } from '../watch/recorder.ts'
import type { ChainLosses } from './exception-chain.ts'

/** What the profile of a request leaves out, for each bound that was reached. */
export function countDropped(
  recorder: Recorder,
  losses: ChainLosses,
  mask: Mask,
  secrets: RequestSecrets,
  bounds: ProfileBounds,
): Dropped[] {
  const exceptions = losses.exceptions + recorder.droppedFailures
  const dropped: Dropped[] = []
  const add = (what: string, count: number, why: () => string) => {
    if (count > 0) dropped.push({ what, count, why: why() })
  }
  add('spans', recorder.droppedSpans, () => `A profile holds ${bounds.spans} spans.`)
  add('logs', recorder.droppedLines, () => `A profile holds ${bounds.logs} log lines.`)
  add('exceptions', exceptions, () => `A profile holds ${bounds.exceptions} exceptions.`)
  add('frames', losses.frames, () => `An exception holds ${bounds.frames} frames.`)
  add('values', mask.dropped, () => `A structure holds ${bounds.values} values, ${bounds.depth} levels deep.`)
  add('notes', recorder.droppedNotes, () => `A profile holds ${notesKept} notes.`)
  add('texts', mask.texts.dropped, () => {
    return `A profile holds ${bounds.texts} characters in which secrets are looked for.`
  })
  add('secrets', secrets.dropped, () => `A profile knows ${secretsLearned} secrets. With more, it shows no text.`)
  add('values that may be secrets', secrets.droppedLessons, () => {
    return `Secrets are looked for in ${valuesLearned} values. With more, no text is shown.`
  })
  return dropped
}
