import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { Attachment } from './attachment.ts'
import type { Boundary } from '../base/boundary.ts'
import { kindOfFailure } from '../base/foreign-value.ts'
import { currentToken } from './current-recorder.ts'
import type { OwnPages } from './own-pages.ts'
import { arrivingReplay } from './arriving-replay.ts'
import { Recorder, type RecorderParts } from './recorder.ts'

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
      const recorder = new Recorder(raw, replay?.of ?? currentToken(), this.#parts)
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
