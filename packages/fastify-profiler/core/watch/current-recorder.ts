import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage } from 'node:http'
import { performance } from 'node:perf_hooks'
import type { FastifyRequest } from 'fastify'
import { kindOfFailure } from '../foreign-value.ts'
import type { Boundary } from '../guard.ts'
import type { Location } from '../profile.ts'
import { pathOfUrl } from '../urls.ts'
import { Attachment } from './attachment.ts'
import { Recorder, type RecorderParts } from './recorder.ts'
import { identify } from './request-identity.ts'

/** What runs: a request, one of its queries, or a plugin or onReady hook while an application starts. */
export interface Scope {
  readonly recorder: Recorder
}

/**
 * Holds what runs across asynchronous calls.
 * For performance: one for all, since each takes time and memory of every promise.
 */
export const recorderScope = new AsyncLocalStorage<Scope>()

/** Recorders of plugins: a callback that one leaves behind stays in its scope, and is no part of a request. */
const loadingRecorders = new WeakSet<Recorder>()

/** Marks the recorder of a plugin, which is no request's. @returns the recorder */
export function asLoading(recorder: Recorder): Recorder {
  loadingRecorders.add(recorder)
  return recorder
}

/**
 * The recorder of the current request, or of the plugin that loads. Undefined outside of both, or if the request is not
 * profiled.
 */
export function currentRecorder(): Recorder | undefined {
  const recorder = recorderScope.getStore()?.recorder
  return recorder?.finished === true && loadingRecorders.has(recorder) ? undefined : recorder
}

/** What records the work that runs; null outside of requests, and long after one. */
export function openRecorder(): Recorder | null {
  return currentRecorder()?.open ?? null
}

/** The token of the current request, which another one is made by; null outside of one. */
function currentToken(): string | null {
  const recorder = recorderScope.getStore()?.recorder
  return recorder === undefined || loadingRecorders.has(recorder) ? null : recorder.token
}

/** A stored request that is sent again. Since it is known by the scope it is sent in, no client can pass for one. */
export class Replay {
  /** The token of the stored request. */
  readonly of: string
  readonly #notes: readonly string[]
  /** Of the request that was sent; null until it arrives. */
  recorder: Recorder | null = null

  /** @param notes sentences about what is not sent again */
  constructor(of: string, notes: readonly string[]) {
    this.of = of
    this.#notes = notes
  }

  /** Makes the call that sends the request. */
  run<Result>(call: () => Result): Result {
    return scope.run(this, call)
  }

  arrive(recorder: Recorder): void {
    this.recorder = recorder
    recorder.isReplay = true
    for (const note of this.#notes) recorder.note(note)
  }
}

const scope = new AsyncLocalStorage<Replay>()

/** The replay that has just arrived; null for other requests, such as those that its handler makes. */
function arrivingReplay(): Replay | null {
  const replay = scope.getStore()
  return replay?.recorder === null ? replay : null
}

/** Keeps the recorder of each request. */
export class Recorders {
  readonly #ownPages: OwnPages
  readonly #notes: ReadonlySet<string>
  readonly #parts: RecorderParts
  readonly #boundary: Boundary
  readonly #recorders = new Attachment<Recorder>()
  /** Requests that the profiler failed to watch. */
  readonly #abandoned = new WeakSet<IncomingMessage>()

  /** @param notes sentences that every profile starts with */
  constructor(ownPages: OwnPages, notes: ReadonlySet<string>, parts: RecorderParts, boundary: Boundary) {
    this.#ownPages = ownPages
    this.#notes = notes
    this.#parts = parts
    this.#boundary = boundary
  }

  /** Returns or creates a request's recorder; undefined for the profiler's pages, or if the profiler fails. */
  of(raw: IncomingMessage): Recorder | undefined {
    try {
      const known = this.#recorders.get(raw)
      if (known !== undefined || this.#ownPages.areAskedFor(raw) || this.#abandoned.has(raw)) return known
      const replay = arrivingReplay()
      const recorder = new Recorder(identify(raw, replay?.of ?? currentToken()), this.#parts)
      for (const note of this.#notes) recorder.note(note)
      replay?.arrive(recorder)
      this.#recorders.set(raw, recorder)
      return recorder
    } catch (error) {
      this.abandon(raw, error)
      return undefined
    }
  }

  /** Calls back with a request's recorder. If that throws, the request continues, and its profile gets a note. */
  record(request: Pick<FastifyRequest, 'raw'>, call: (recorder: Recorder) => void): void {
    this.#boundary.guard(() => {
      const recorder = this.of(request.raw)
      if (recorder !== undefined) this.guard(recorder, () => call(recorder), undefined)
    }, undefined)
  }

  /** Returns the call's result. If it throws, returns `otherwise` and adds a note to the profile. */
  guard<Result>(recorder: Recorder, call: () => Result, otherwise: Result): Result {
    try {
      return call()
    } catch (error) {
      this.missed(recorder, error)
      return otherwise
    }
  }

  /** Tells of an error that kept a part of a request from being recorded, in the log and in the profile. */
  missed(recorder: Recorder, error: unknown): void {
    this.#boundary.tell(error)
    recorder.note(`The profiler could not record all of this request (${kindOfFailure(error)}). The log says why.`)
  }

  /** Stops profiling a request that cannot be watched. */
  abandon(raw: IncomingMessage, error: unknown): void {
    this.#boundary.tell(error)
    this.#boundary.guard(() => {
      this.#abandoned.add(raw)
      this.#recorders.delete(raw)
    }, undefined)
  }

  /** Stops profiling a request that turns out to be for one of the profiler's pages. */
  disown(raw: IncomingMessage): void {
    this.#ownPages.disguise(raw)
    this.#recorders.delete(raw)
  }

  /** Whether a request is no longer profiled. */
  hasForgotten(raw: IncomingMessage): boolean {
    return this.#ownPages.isDisguised(raw) || this.#abandoned.has(raw)
  }
}

/** Distinguishes the profiler's own pages from the application's. */
export class OwnPages {
  readonly #base: string
  /** Requests for the profiler's pages under other URLs. */
  readonly #disguised = new WeakSet<IncomingMessage>()

  constructor(base: string) {
    this.#base = base
  }

  /** Whether a URL or route pattern belongs to the profiler's pages. */
  include(url: string): boolean {
    const { length } = this.#base
    return url.startsWith(this.#base) && (url.length === length || url[length] === '/' || url[length] === '?')
  }

  /** Whether a request is for one of the profiler's pages. */
  areAskedFor(raw: IncomingMessage): boolean {
    return this.#disguised.has(raw) || this.include(pathOfUrl(String(raw.url)))
  }

  /** Remembers a request for a profiler page under another URL: routers decode "/%5fprofiler" to "/_profiler". */
  disguise(raw: IncomingMessage): void {
    this.#disguised.add(raw)
  }

  isDisguised(raw: IncomingMessage): boolean {
    return this.#disguised.has(raw)
  }
}

/** What is known of a step before it runs. */
export interface StepDescription {
  kind: 'plugin' | 'hook'
  name: string
  /** Where it was registered. */
  location: Location | null
  /** The plugin that registered it; null for the application's own code. */
  parent: LoadingStep | null
}

/** A plugin or an onReady hook of an application that starts: when it ran, and what it did. */
export class LoadingStep {
  readonly kind: StepDescription['kind']
  readonly name: string
  readonly location: Location | null
  /** Records its queries and requests. Its clock starts with the step. */
  readonly recorder: Recorder
  readonly children: LoadingStep[] = []
  /** By `performance.now()`. */
  readonly began = performance.now()
  /** By `performance.now()`; null while it runs. */
  ended: number | null = null
  failure: { readonly error: unknown } | null = null

  constructor({ kind, name, location }: StepDescription, recorder: Recorder) {
    this.kind = kind
    this.name = name
    this.location = location
    this.recorder = recorder
  }
}
