import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { Attachment } from './attachment.ts'
import type { Boundary } from '../base/boundary.ts'
import type { ProfileBounds } from '../base/bounds.ts'
import { kindOfFailure } from '../base/foreign-value.ts'
import { currentRecorder } from './current-recorder.ts'
import type { OwnPages } from './own-pages.ts'
import { Recorder } from './recorder.ts'

/** Keeps the recorder of each request. */
export class Recorders {
  readonly #ownPages: OwnPages
  readonly #notes: ReadonlySet<string>
  readonly #bounds: ProfileBounds
  readonly #boundary: Boundary
  readonly #recorders = new Attachment<Recorder>()
  /** Requests that the profiler failed to watch. */
  readonly #abandoned = new WeakSet<IncomingMessage>()

  /** @param notes sentences that every profile starts with */
  constructor(ownPages: OwnPages, notes: ReadonlySet<string>, bounds: ProfileBounds, boundary: Boundary) {
    this.#ownPages = ownPages
    this.#notes = notes
    this.#bounds = bounds
    this.#boundary = boundary
  }

  /** The recorder of a request, made at its first mention; undefined for own pages, or if the profiler fails. */
  of(raw: IncomingMessage): Recorder | undefined {
    try {
      const known = this.#recorders.get(raw)
      if (known !== undefined || this.#ownPages.areAskedFor(raw) || this.#abandoned.has(raw)) return known
      const recorder = new Recorder(raw, currentRecorder()?.token ?? null, this.#bounds)
      for (const note of this.#notes) recorder.note(note)
      this.#recorders.set(raw, recorder)
      return recorder
    } catch (error) {
      this.abandon(raw, error)
      return undefined
    }
  }

  /** Records something of a request. If that fails, the request goes on, and its profile says so. */
  record(request: Pick<FastifyRequest, 'raw'>, call: (recorder: Recorder) => void): void {
    this.#boundary.guard(() => {
      const recorder = this.of(request.raw)
      if (recorder !== undefined) this.guard(recorder, () => call(recorder), undefined)
    }, undefined)
  }

  /** The result of a call, or `otherwise` if it throws, which the profile then says. */
  guard<Result>(recorder: Recorder, call: () => Result, otherwise: Result): Result {
    try {
      return call()
    } catch (error) {
      this.#boundary.tell(error)
      recorder.note(`The profiler could not record all of this request (${kindOfFailure(error)}). The log says why.`)
      return otherwise
    }
  }

  /** Lets a request go on unprofiled: it does not even let itself be watched. */
  abandon(raw: IncomingMessage, error: unknown): void {
    this.#boundary.tell(error)
    this.#boundary.guard(() => {
      this.#abandoned.add(raw)
      this.#recorders.delete(raw)
    }, undefined)
  }

  /** Forgets the recorder of a request that is for an own page after all. */
  disown(raw: IncomingMessage): void {
    this.#ownPages.disguise(raw)
    this.#recorders.delete(raw)
  }

  /** Whether a request that was watched no longer is. */
  hasForgotten(raw: IncomingMessage): boolean {
    return this.#ownPages.isDisguised(raw) || this.#abandoned.has(raw)
  }
}
