import { performance } from 'node:perf_hooks'
import { bootVersion, type Boot, type BootFailure, type BootState } from '../base/boot.ts'
import type { ProfileBounds } from '../base/bounds.ts'
import { textOf } from '../base/foreign-value.ts'
import type { Span } from '../base/profile.ts'
import { Mask } from '../mask/mask.ts'
import type { KnownSecrets } from '../mask/known-secrets.ts'
import { RequestSecrets } from '../mask/request-secrets.ts'
import type { ApplicationStart } from '../watch/application-start.ts'
import type { LoadingStep } from '../watch/loading-step.ts'
import { maskSpans } from './mask-spans.ts'

export interface BootParts {
  bounds: ProfileBounds
  secrets: KnownSecrets | null
  versions: Record<string, string>
}

/** Describes the start of an application as far as it has come. @param isGivenUp whether it will not go on */
export function describeBoot(start: ApplicationStart, isGivenUp: boolean, parts: BootParts): Boot {
  const { bounds, secrets, versions } = parts
  const now = start.ended ?? performance.now()
  const requestSecrets = new RequestSecrets(bounds, secrets)
  for (const { recorder } of start.steps) {
    for (const secret of recorder.secrets) requestSecrets.add(secret)
    requestSecrets.dropped += recorder.droppedSecrets
  }
  const mask = new Mask(bounds, requestSecrets)
  const spans: Span[] = []
  const failures: BootFailure[] = []
  const add = (step: LoadingStep, parent: number | null) => {
    const id = spans.push(spanOf(step, parent, start.began, now)) - 1
    if (step.failure !== null) failures.push({ span: id, message: mask.text(textOf(step.failure.error)) })
    for (const call of step.recorder.spans) spans.push(callOf(call, id, step.began - start.began, now - start.began))
    for (const child of step.children) add(child, id)
  }
  const nested = new Set(start.steps.flatMap(({ children }) => children))
  for (const step of start.steps) if (!nested.has(step)) add(step, null)
  const kept = spans.slice(0, bounds.spans)
  maskSpans(kept, mask)
  return {
    version: bootVersion,
    token: 'boot',
    time: start.time,
    before: Math.round(start.began),
    duration: Math.round((now - start.began) * 1000) / 1000,
    state: stateOf(start, isGivenUp),
    process: process.pid,
    versions: { node: process.version.slice(1), ...versions },
    spans: kept,
    failures: failures.filter(({ span }) => span < kept.length),
    dropped: start.dropped + spans.length - kept.length,
  }
}

function stateOf({ ended, isStuck }: ApplicationStart, isGivenUp: boolean): BootState {
  if (ended !== null) return 'ready'
  if (isGivenUp) return 'failed'
  return isStuck ? 'stuck' : 'starting'
}

function spanOf(
  { kind, name, location, began, ended, failure }: LoadingStep,
  parent: number | null,
  start: number,
  now: number,
): Span {
  return {
    parent,
    kind,
    name,
    hook: kind === 'hook' ? 'onReady' : null,
    routeLevel: false,
    dispatchPoint: null,
    plugin: null,
    location,
    start: began - start,
    duration: (ended ?? now) - began,
    outcome: ended === null ? 'unfinished' : failure === null ? 'continued' : 'threw',
    detail: null,
  }
}

/** What a step has called, on the clock of the start. A call that still runs has no duration of its own. */
function callOf(call: Span, parent: number, offset: number, now: number): Span {
  const start = call.start + offset
  return { ...call, parent, start, duration: call.outcome === 'unfinished' ? now - start : call.duration }
}
