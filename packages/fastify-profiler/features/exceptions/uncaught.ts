import type { PageSources, RunningFeature } from '../../core/feature.ts'
import { driverBoundary } from '../../core/guard.ts'
import type { Profile } from '../../core/profile.ts'
import { rewrite } from '../../core/store/profile-writer.ts'
import { currentRecorder } from '../../core/watch/recorders.ts'

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

/** Listens for uncaught errors without catching them, and marks the request whose error ends the process. */
export function watchUncaught(): void {
  process.on('uncaughtExceptionMonitor', hear)
  // A listener would keep the process from crashing, so there is one only while the application has its own.
  if (process.listenerCount(rejection) > 0) process.prependListener(rejection, hear)
  process.on('newListener', (event, listener) => {
    const isFirst = listener !== hear && process.listenerCount(rejection) === 0
    if (event === rejection && isFirst) process.on(rejection, hear)
  })
  process.on('removeListener', event => {
    if (event === rejection && process.listenerCount(rejection) === 1) process.off(rejection, hear)
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

/** Knows an application while it runs. */
export function knowApplication(sources: PageSources): RunningFeature {
  running.add(sources)
  return { stop: () => running.delete(sources) }
}
