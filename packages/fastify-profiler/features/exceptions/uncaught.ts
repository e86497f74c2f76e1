import type { PageSources, RunningFeature } from '../../core/feature.ts'
import { driverBoundary } from '../../core/guard.ts'
import type { Profile } from '../../core/profile.ts'
import { rewrite } from '../../core/store/profile-writer.ts'
import { currentRecorder } from '../../core/watch/current-recorder.ts'

/** Milliseconds after an uncaught error. A process that exits later has another reason. */
const longestEnd = 10_000

const running = new Set<PageSources>()

/** The newest error that nobody caught, with the applications that ran then; null if it was no request's. */
let newest: { token: string; time: number; applications: readonly PageSources[] } | null = null

function hear(error: unknown): void {
  driverBoundary.guard(() => {
    const request = currentRecorder()
    const recorder = request?.open ?? null
    newest = recorder && { token: recorder.token, time: Date.now(), applications: [...running] }
    recorder?.uncaught(error, request?.ended === null ? 'before the response' : 'after the response')
  }, undefined)
}

const rejection = 'unhandledRejection'

const key = Symbol.for('fastify-profiler.listeners')
const shared: object & { [key]?: WeakSet<object> } = globalThis

/** The listeners of all copies of the package, which must not take each other's for the application's. */
const own = (shared[key] ??= new WeakSet()).add(hear)

/** Listens for uncaught errors without catching them, and marks the request whose error ends the process. */
export function watchUncaught(): void {
  process.on('uncaughtExceptionMonitor', hear)
  // A listener would keep the process from crashing, so there is one only while the application has its own.
  if (process.listenerCount(rejection) > 0) process.prependListener(rejection, hear)
  process.on('newListener', (event, listener: object) => {
    const isAlone = event === rejection && !own.has(listener) && !process.listeners(rejection).includes(hear)
    if (isAlone) process.on(rejection, hear)
  })
  process.on('removeListener', event => {
    if (event === rejection && process.listeners(rejection).every(listener => own.has(listener))) {
      process.off(rejection, hear)
    }
  })
  process.on('exit', code => {
    if (code === 0 || newest === null || Date.now() - newest.time > longestEnd) return
    const { applications, time, token } = newest
    const mark = (profile: Profile) => {
      profile.crash = time
    }
    for (const { boundary, bounds, store } of applications) {
      boundary.guard(() => rewrite(store, token, bounds.bytes, mark), undefined)
      boundary.guard(() => store.flush(), undefined)
    }
  })
}

export function knowApplication(sources: PageSources): RunningFeature {
  running.add(sources)
  return { stop: () => running.delete(sources) }
}
