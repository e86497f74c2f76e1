import { AsyncLocalStorage } from 'node:async_hooks'
import { hideFrames } from '../base/hidden-frames.ts'
import type { Recorder } from './recorder.ts'

hideFrames(import.meta.filename)

/** Whose request the code runs for that is called within its `run`, and whatever that starts. */
export const recorderScope = new AsyncLocalStorage<Recorder>()

/** The recorder of the request this code runs for; undefined outside of any, and when it is not profiled. */
export function currentRecorder(): Recorder | undefined {
  return recorderScope.getStore()
}
