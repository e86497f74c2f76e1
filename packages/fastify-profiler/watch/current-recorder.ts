import { AsyncLocalStorage } from 'node:async_hooks'
import type { LoadingStep } from './loading-step.ts'
import type { Recorder } from './recorder.ts'

/** Holds the recorder of the current request across asynchronous calls. */
export const recorderScope = new AsyncLocalStorage<Recorder>()

/** Holds the plugin or onReady hook that runs while an application starts. What it leaves behind stays in it. */
export const loadingScope = new AsyncLocalStorage<LoadingStep>()

/** A callback of a query that a plugin sent runs in the scope of requests. */
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
  return recorderScope.getStore() ?? loadingRecorder()
}

function loadingRecorder(): Recorder | undefined {
  const recorder = loadingScope.getStore()?.recorder
  return recorder?.finished === false ? recorder : undefined
}

/** The token of the current request, which another one is made by; null outside of one. */
export function currentToken(): string | null {
  const recorder = recorderScope.getStore()
  return recorder === undefined || loadingRecorders.has(recorder) ? null : recorder.token
}
