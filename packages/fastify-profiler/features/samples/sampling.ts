import type { HeapProfiler, Profiler, Session } from 'node:inspector'
import { performance } from 'node:perf_hooks'
// Imported, because tests replace the global timers.
import { clearTimeout, setTimeout } from 'node:timers'
import { isObject, propertyOf, textOf } from '../../core/foreign-value.ts'
import { Attachment } from '../../core/watch/attachment.ts'
import type { EnteredRequest } from '../../core/watch/exchanges.ts'
import type { Recorder } from '../../core/watch/recorder.ts'
import { isSampleKind, type SampleKind } from './samples.ts'

/** Samples as V8 gives them: the content of a `.cpuprofile`, or of a `.heapprofile`. */
export type RawSamples = Profiler.Profile | HeapProfiler.SamplingHeapProfile

/** Microseconds between two samples of the CPU, and bytes between two of the heap. */
export const samplingIntervals: Record<SampleKind, number> = { cpu: 100, allocations: 16_384 }

/** Made for the first request that is sampled. Stays connected: else V8's coverage of the whole process would end. */
let session: Session | null = null

/** Samples this thread from now on. Throws if Node cannot. @returns a function that stops, and returns the samples */
function startSampler(kind: SampleKind): () => RawSamples {
  const interval = samplingIntervals[kind]
  if (kind === 'allocations') {
    const includeFreed = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true }
    askInspector('HeapProfiler.startSampling', { samplingInterval: interval, ...includeFreed })
    return () => samplesIn(askInspector('HeapProfiler.stopSampling'))
  }
  askInspector('Profiler.enable')
  askInspector('Profiler.setSamplingInterval', { interval })
  askInspector('Profiler.start')
  return () => samplesIn(askInspector('Profiler.stop'))
}

export function isRawSamples(value: unknown): value is RawSamples {
  return isObject(value) && ('nodes' in value || 'head' in value)
}

function samplesIn(answer: object): RawSamples {
  const samples = propertyOf(answer, 'profile')
  if (!isRawSamples(samples)) throw new Error('The inspector has no samples.')
  return samples
}

/** Asks the inspector, which answers before `post` returns, since it is in the same thread. */
function askInspector(method: string, parameters: object = {}): object {
  let answer = (): object => {
    throw new Error('The inspector does not answer.')
  }
  connected().post(method, parameters, (error, result = {}) => {
    answer = () => {
      if (error !== null) throw error
      return result
    }
  })
  return answer()
}

function connected(): Session {
  if (session !== null) return session
  // Not imported, since importing it fails in a Node that was built without it.
  const { Session } = process.getBuiltinModule('node:inspector')
  const made = new Session()
  made.connect()
  session = made
  return session
}

/** Milliseconds after which sampling stops, even if the request goes on. */
const longest = 30_000

/** Milliseconds for which a route stays armed. */
const armedFor = 5 * 60_000

const othersKept = 20

interface Armed {
  kind: SampleKind
  /** Milliseconds since 1970. */
  until: number
}

const armed = new Map<string, Armed>()

/** What is sampled, and how to end it. One request at a time, since samples are those of the whole thread. */
let running: { sampling: Sampling; end: () => void } | null = null

export class Sampling {
  readonly kind: SampleKind
  /** Null until the end, and if there are none. */
  raw: RawSamples | null = null
  /** Why there are none, as a sentence; null if there are some. */
  why: string | null = null
  /** Milliseconds that it took. */
  duration = 0
  /** Bytes by which the memory outside the heap has grown. */
  external = 0
  /** The number of other requests that ran meanwhile, and the tokens of the first. */
  othersCount = 0
  readonly others: string[] = []
  readonly #recorder: Recorder
  /** The request, and those that it makes. */
  readonly #family = new Set<string>()

  constructor(recorder: Recorder, kind: SampleKind) {
    this.kind = kind
    this.#recorder = recorder
    this.#family.add(recorder.token)
  }

  /** Starts it, unless another one runs or Node cannot. */
  start(most: number): void {
    if (running !== null) {
      this.why = 'Another request was being sampled, and only one can be at a time. Send it again.'
      return
    }
    this.#attempt(() => {
      const stop = startSampler(this.kind)
      const started = performance.now()
      const { external } = process.memoryUsage()
      const timer = setTimeout(() => {
        this.#recorder.note(`Sampling was stopped after ${most / 1000} s.`)
        this.stop()
      }, most)
      timer.unref()
      const end = () => {
        clearTimeout(timer)
        this.duration = performance.now() - started
        this.external = process.memoryUsage().external - external
        this.raw = stop()
      }
      running = { sampling: this, end }
    })
  }

  /** Keeps the samples so far. Does nothing if it is over. */
  stop(): void {
    if (running?.sampling !== this) return
    const { end } = running
    running = null
    this.#attempt(end)
  }

  /** Called for each request that is open meanwhile. */
  meet({ parent, token }: Recorder): void {
    if (this.#family.has(token)) return
    if (parent !== null && this.#family.has(parent)) {
      this.#family.add(token)
      return
    }
    this.othersCount++
    if (this.others.length < othersKept) this.others.push(token)
  }

  #attempt(call: () => void): void {
    try {
      // The inspector's own work is none of the request's.
      this.#recorder.aside(call)
    } catch (error) {
      this.why = `This process cannot be sampled: ${textOf(error)}`
    }
  }
}

/** Samples the next request to a route, once. */
export function arm(method: string, route: string, kind: SampleKind): void {
  for (const [key, { until }] of armed) if (until < Date.now()) armed.delete(key)
  armed.set(keyOf(method, route), { kind, until: Date.now() + armedFor })
}

/** What the next request to a route will be sampled for; null if it will not be. */
export function armedTo(method: string, route: string): Armed | null {
  const found = armed.get(keyOf(method, route))
  return found === undefined || found.until < Date.now() ? null : found
}

const samplings = new Attachment<Sampling>()

/** The sampling of a request; null if it is not sampled. */
export function samplingOf(recorder: Recorder): Sampling | null {
  return samplings.get(recorder) ?? null
}

/** Samples a request that asks for it, or whose route is armed. */
export function sampleIfAsked(request: EnteredRequest, most = longest): void {
  const { recorder, unended } = request
  running?.sampling.meet(recorder)
  const kind = askedKind(request) ?? takeArmed(request)
  if (kind === null) return
  const sampling = new Sampling(recorder, kind)
  samplings.set(recorder, sampling)
  recorder.whenEnded(() => sampling.stop())
  sampling.start(most)
  if (running?.sampling === sampling) for (const other of unended()) sampling.meet(other)
}

function askedKind({ request, mayAsk }: EnteredRequest): SampleKind | null {
  const asked = request.raw.headers['x-profile']
  return isSampleKind(asked) && mayAsk() ? asked : null
}

function takeArmed({ recorder: { method }, route }: EnteredRequest): SampleKind | null {
  if (armed.size === 0 || running !== null || route === undefined) return null
  const found = armedTo(method, route)
  armed.delete(keyOf(method, route))
  return found?.kind ?? null
}

function keyOf(method: string, route: string): string {
  return `${method} ${route}`
}
