import type { ProfileBounds } from '../base/bounds.ts'
import type { FunctionUse, NotSampled, Samples } from '../base/samples.ts'
import { toMicroseconds } from '../base/microseconds.ts'
import type { Mask } from '../mask/mask.ts'
import { samplingIntervals } from '../watch/sampler.ts'
import type { Sampling } from '../watch/sampling.ts'
import { amountOf, outermostCalls, type CallNode } from './call-tree.ts'
import { chargedCode } from './charged-code.ts'
import { FunctionUses } from './function-uses.ts'
import { maskSamples } from './mask-samples.ts'

const functionsKept = 10

/** The summary of samples, and their text to store. */
export interface DescribedSamples {
  summary: Samples | NotSampled
  /** Null if there is nothing to store. */
  text: string | null
}

/** Summarises what sampling a request has shown; null if it goes on, as before the response is sent. */
export function describeSamples(
  { duration, kind, others, othersCount, raw, why }: Sampling,
  mask: Mask,
  bounds: ProfileBounds,
): DescribedSamples | null {
  if (why !== null) return { summary: { kind, why: mask.text(why) }, text: null }
  if (raw === null) return null
  maskSamples(raw, mask)
  const calls = outermostCalls(raw, duration)
  const text = JSON.stringify(raw)
  const bytes = Buffer.byteLength(text)
  const isStored = bytes <= bounds.samples
  const summary: Samples = {
    kind,
    duration: toMicroseconds(duration),
    interval: samplingIntervals[kind],
    total: toMicroseconds(amountOf(calls)),
    hot: hotFunctions(calls),
    charged: chargedCode(calls, functionsKept),
    others: { count: othersCount, tokens: [...others] },
    unstored: isStored ? null : unstoredText(bytes, bounds.samples),
  }
  return { summary, text: isStored ? text : null }
}

function unstoredText(bytes: number, most: number): string {
  return `The samples have ${bytes} bytes, more than the ${most} that are stored with a profile: they were not stored.`
}

/** The functions with the largest amounts of their own. */
function hotFunctions(calls: readonly CallNode[]): FunctionUse[] {
  const uses = new FunctionUses()
  const add = (call: CallNode) => {
    uses.add(call, call.self, call.ticks)
    call.children.forEach(add)
  }
  calls.forEach(add)
  return uses.largest(functionsKept)
}
