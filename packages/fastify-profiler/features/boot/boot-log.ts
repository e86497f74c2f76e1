import { performance } from 'node:perf_hooks'
import { maskSpans } from '../../core/collect.ts'
import type { PageSources, RunningFeature } from '../../core/feature.ts'
import { attempt, isObject, textOf } from '../../core/foreign-value.ts'
import { tell } from '../../core/guard.ts'
import { Mask } from '../../core/mask/mask.ts'
import { RequestSecrets } from '../../core/mask/request-secrets.ts'
import type { Span } from '../../core/profile.ts'
import { locationText } from '../../core/view/elements.ts'
import { formatDuration } from '../../core/view/units.ts'
import type { ApplicationStart } from '../../core/watch/application-start.ts'
import { Attachment } from '../../core/watch/attachment.ts'
import type { LoadingStep } from '../../core/watch/current-recorder.ts'
import { isOperation, spansAt } from '../performance/exclusive-time.ts'
import { hideValues } from '../queries/recorded-queries.ts'
import { readFileSync } from 'node:fs'
import type { StoreDirectory } from '../../core/store/store-directory.ts'

type BootParts = Pick<PageSources, 'bounds' | 'secrets' | 'versions'>

/** Describes the start of an application as far as it has come. @param isGivenUp whether it will not go on */
function describeBoot(start: ApplicationStart, isGivenUp: boolean, parts: BootParts): Boot {
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
  hideValues(kept)
  return {
    version: bootVersion,
    token: 'boot',
    time: start.time,
    before: Math.round(start.began),
    duration: Math.round((now - start.began) * 1000) / 1000,
    own: Math.round(start.own * 1000) / 1000,
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
  const wait = call.wait && { ...call.wait, start: call.wait.start + offset }
  const duration = call.outcome === 'unfinished' ? now - start : call.duration
  return { ...call, parent, start, duration, ...(wait !== undefined && { wait }) }
}

/** The part of a start from which on a plugin is worth naming. */
const telling = 0.2

/** Ready after 512 ms: "database" took 252 ms; Did not start: "database" failed. */
export function bootSentence(boot: Boot): string {
  const { duration, failures, spans, state } = boot
  if (state === 'ready') return `Ready after ${formatDuration(duration)}${longestText(boot)}`
  const failed = spansAt(
    spans,
    failures.map(({ span }) => span),
  ).map(({ name }) => `"${name}" failed`)
  const unfinished = unfinishedSteps(boot).map(({ name }) => `"${name}" has not ended`)
  const why = [...failed, ...unfinished].slice(0, 3).join(', ') || 'no plugin runs'
  return state === 'failed' ? `Did not start: ${why}` : `Not ready after ${formatDuration(duration)}: ${why}`
}

/** The plugin or hook that took most, if that is much. */
function longestText({ duration, spans }: Boot): string {
  const [longest] = spans.filter(({ parent }) => parent === null).sort((one, other) => other.duration - one.duration)
  if (longest === undefined || longest.duration < duration * telling) return ''
  return `: "${longest.name}" took ${formatDuration(longest.duration)}`
}

/** The innermost plugins and hooks that have not ended. */
export function unfinishedSteps({ spans }: Boot): Span[] {
  const isOpen = (span: Span) => span.outcome === 'unfinished' && !isOperation(span)
  return spans.filter((span, id) => isOpen(span) && !spans.some(child => child.parent === id && isOpen(child)))
}

export function waitText({ spans }: Boot, step: Span): string {
  const id = spans.indexOf(step)
  const open = spans.filter(span => span.parent === id && isOperation(span) && span.outcome === 'unfinished')
  if (open.length > 0) {
    return `It waits for ${open
      .slice(0, 3)
      .map(({ name, duration }) => `${name} (${formatDuration(duration)} so far)`)
      .join(', ')}.`
  }
  return 'No query or request of it is open. It may still be loading: what else it waits for is not recorded.'
}

/** One line for each plugin that hangs. */
function stuckSentence(boot: Boot, root: string): string {
  return unfinishedSteps(boot)
    .map(step => {
      const { duration, kind, location, name } = step
      const what = kind === 'hook' ? 'onReady hook' : 'plugin'
      const place = location === null ? '' : ` (${locationText(location, root)})`
      return `The ${what} "${name}"${place} has not ended after ${formatDuration(duration)}. ${waitText(boot, step)}`
    })
    .join(' ')
}

const newest = new Attachment<() => Boot | null>()

/** The newest start of an application, or of one that shares its store; null if it is not stored any more. */
export function newestBoot(app: object): Boot | null {
  return newest.get(app)?.() ?? null
}

/** Keeps the start of an application in the store, and tells of a plugin that hangs. */
export function keepBoot(sources: PageSources): RunningFeature {
  const { app, boundary, root, start, store } = sources
  let isOver = false
  const keep = (isGivenUp = false) => {
    if (isOver) return
    boundary.guard(() => {
      const boot = describeBoot(start, isGivenUp, sources)
      store.tryToWrite(() => store.directory.replace(bootFile, JSON.stringify(boot)))
      if (boot.state === 'stuck') tell(stuckSentence(boot, root))
      if (boot.state === 'ready') isOver = true
    }, undefined)
  }
  start.changed = keep
  newest.set(app, () => {
    keep()
    return readBoot(store.directory)
  })
  return {
    // A start that is not over is given up.
    stop() {
      if (start.steps.length > 0) keep(true)
      isOver = true
    },
  }
}

const bootVersion = 1

/** The start of an application: plain data, bounded and masked. Times are milliseconds. */
export interface Boot {
  version: typeof bootVersion
  token: 'boot'
  /** Since 1970, when the application was made. */
  time: number
  /** What the process did before that, such as loading modules. */
  before: number
  /** Until it was ready, or so far. */
  duration: number
  /** The part of it that the profiler itself took. Missing in starts that an earlier version stored. */
  own?: number
  state: BootState
  process: number
  versions: Record<string, string>
  /** Plugins, onReady hooks, and what they did. `start` counts from when the application was made. */
  spans: Span[]
  failures: BootFailure[]
  /** Plugins that the bound left out, with all that they did. */
  dropped: number
}

/** starting: not all plugins and hooks have ended. stuck: nothing has ended for seconds. failed: it was given up. */
export type BootState = 'ready' | 'starting' | 'stuck' | 'failed'

export interface BootFailure {
  /** The span of the plugin or hook. */
  span: number
  message: string
}

const bootFile = 'boot.json'

/** The newest start of the applications that share a directory; null if there is none, or if it cannot be read. */
export function readBoot(directory: StoreDirectory): Boot | null {
  return attempt(() => {
    const boot: unknown = JSON.parse(readFileSync(directory.pathOf(bootFile), 'utf8'))
    return isBoot(boot) ? boot : null
  }, null)
}

function isBoot(value: unknown): value is Boot {
  return isObject(value) && 'version' in value && value.version === bootVersion && 'spans' in value
}
