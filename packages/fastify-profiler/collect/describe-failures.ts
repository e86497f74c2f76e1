import type { ProfileBounds } from '../base/bounds.ts'
import { attempt, isError } from '../base/foreign-value.ts'
import type { DispatchPointName, Exception } from '../base/profile.ts'
import type { Mask } from '../mask/mask.ts'
import type { Failure } from '../watch/recorded-failures.ts'
import type { Origins } from './describe-lifecycle.ts'
import { describeExceptions, type ChainLosses, type ExceptionChains } from './exception-chain.ts'

/** The failures of a request, described for its profile. */
export interface DescribedFailures {
  exceptions: Exception[]
  origins: Origins
  losses: ChainLosses
}

/** @param toError converts an error as the application's error handler does */
export function describeFailures(
  failures: readonly Failure[],
  toError: (thrown: Error) => Error,
  mask: Mask,
  bounds: ProfileBounds,
): DescribedFailures {
  const losses: ChainLosses = { exceptions: 0, frames: 0 }
  const thrown = failures.map(({ error }) => (isError(error) ? attempt(() => toError(error), error) : error))
  const chains = describeExceptions(thrown, mask, bounds, losses)
  for (const { frames } of chains.list) {
    for (const frame of frames) if (frame.function !== null) frame.function = mask.text(frame.function)
  }
  return { exceptions: chains.list, origins: originsOf(failures, chains), losses }
}

/** Maps failed spans and phases to their exceptions, and sets the spans and handlers of the exceptions. */
function originsOf(failures: readonly Failure[], { list, thrown }: ExceptionChains): Origins {
  const spans = new Map<number, number>()
  const phases = new Map<DispatchPointName, number>()
  failures.forEach((failure, position) => {
    const index = thrown[position] ?? -1
    const exception = list[index]
    if (exception === undefined) return
    exception.spans = failure.spans
    exception.handlers = failure.handlers
    for (const span of failure.spans) spans.set(span, index)
    if (failure.phase !== null) phases.set(failure.phase, index)
  })
  return { spans, phases }
}
