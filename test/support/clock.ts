import type { Closing } from './folder.ts'

const readClock = performance.now.bind(performance)

/** Milliseconds that performance.now() is ahead of the real clock since it was last stopped. */
let ahead = 0

/**
 * Stops the time of Date.now() and performance.now() until the test ends. Timers run on.
 * @returns a function that lets milliseconds pass
 */
export function stopClock(t: Closing): (milliseconds: number) => void {
  const { now } = Date
  // Whole, because sums and differences of fractions are not exact.
  const stopped = { date: Date.now(), performance: Math.ceil(readClock() + ahead) }
  let passed = 0
  Date.now = () => stopped.date + passed
  performance.now = () => stopped.performance + passed
  t.teardown(() => {
    Date.now = now
    // It never goes back, or what the process remembers of this test would lie in the future of the next ones.
    ahead = stopped.performance + passed - readClock()
    performance.now = () => readClock() + ahead
  })
  return milliseconds => {
    passed += milliseconds
  }
}
