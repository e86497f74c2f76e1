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
  const candidates: Array<[what: string, count: number, why: string]> = [
    ['spans', recorder.droppedSpans, `A profile holds ${bounds.spans} spans.`],
    ['logs', recorder.droppedLines, `A profile holds ${bounds.logs} log lines.`],
    ['exceptions', exceptions, `A profile holds ${bounds.exceptions} exceptions.`],
    ['frames', losses.frames, `An exception holds ${bounds.frames} frames.`],
    ['values', mask.dropped, `A structure holds ${bounds.values} values, ${bounds.depth} levels deep.`],
    ['notes', recorder.droppedNotes, `A profile holds ${notesKept} notes.`],
    ['texts', mask.texts.dropped, `A profile holds ${bounds.texts} characters in which secrets are looked for.`],
    ['secrets', secrets.dropped, `A profile knows ${secretsLearned} secrets. With more, it shows no text.`],
    [
      'values that may be secrets',
      secrets.droppedLessons,
      `Secrets are looked for in ${valuesLearned} values. With more, no text is shown.`,
    ],
  ]
  return candidates.filter(([, count]) => count > 0).map(([what, count, why]) => ({ what, count, why }))
}
