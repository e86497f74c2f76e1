import { AsyncLocalStorage } from 'node:async_hooks'
import type { Recorder } from './recorder.ts'

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
export function arrivingReplay(): Replay | null {
  const replay = scope.getStore()
  return replay?.recorder === null ? replay : null
}
