import { AsyncLocalStorage } from 'node:async_hooks'
import type { Recorder } from './recorder.ts'

const storage = new AsyncLocalStorage<Recorder>()

/** The recorder of the request this code runs for; undefined outside of any, and when it is not profiled. */
export function currentRecorder (): Recorder | undefined {
  return storage.getStore()
}

/** Calls a function so that it, and whatever it starts, finds the recorder. */
export function runWithRecorder<Result> (recorder: Recorder, call: () => Result): Result {
  return storage.getStore() === recorder ? call() : storage.run(recorder, call)
}
