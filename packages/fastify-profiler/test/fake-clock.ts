import { mock } from 'node:test'
import type { Test } from 'tap'

/** A clock that stands still unless a test lets time pass. */
export interface FakeClock {
  /** Time passes while the event loop is blocked. */
  block(milliseconds: number): void
  /** Resolves after that time, and after shorter sleeps that began in the same turn. */
  sleep(milliseconds: number): Promise<void>
}

const readClock = performance.now.bind(performance)

/** Milliseconds that performance.now() is ahead of the real clock since the last fake one. */
let ahead = 0

/** Replaces performance.now() until the test ends: sleeps take exactly as long as they say, on any machine. */
export function fakeClock(t: Test): FakeClock {
  let now = Math.ceil(readClock() + ahead)
  const sleepers: Array<{ until: number; wake: () => void }> = []
  performance.now = () => now
  // It never goes back, or what the whole process remembers of this test would lie in the future of the next ones.
  t.teardown(() => {
    ahead = now - readClock()
    performance.now = () => readClock() + ahead
  })
  return {
    block(milliseconds) {
      now += milliseconds
    },
    async sleep(milliseconds) {
      await new Promise<void>(resolve => {
        sleepers.push({ until: now + milliseconds, wake: resolve })
        setImmediate(() => {
          sleepers.sort((a, b) => b.until - a.until)
          const next = sleepers.pop()
          now = Math.max(now, next?.until ?? 0)
          next?.wake()
        })
      })
    },
  }
}

/**
 * Lets the timers of setTimeout end when the test says so, until the test ends.
 * @returns a function that lets milliseconds pass
 */
export function fakeTimers(t: Test): (milliseconds: number) => void {
  const clearReal = globalThis.clearTimeout
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const clearFake = globalThis.clearTimeout
  // Node's fetch must be able to clear a timer that it had set before, or it fails when that ends.
  globalThis.clearTimeout = timer => {
    clearReal(timer)
    clearFake(timer)
  }
  return milliseconds => mock.timers.tick(milliseconds)
}
