import { AsyncLocalStorage } from 'node:async_hooks'
import { hideFrames } from '../base/hidden-frames.ts'
import type { Recorder } from './recorder.ts'

hideFrames(import.meta.filename)

/** Holds the recorder of the current request across asynchronous calls. */
export const recorderScope = new AsyncLocalStorage<Recorder>()

/** The recorder of the current request; undefined outside a request, or if the request is not profiled. */
export function currentRecorder(): Recorder | undefined {
  return recorderScope.getStore()
}
