import type { Closing } from './folder.ts'

/**
 * Stops the time of Date.now() and performance.now() until the test ends. Timers run on.
 * @returns a function that lets milliseconds pass
 */
export function stopClock(t: Closing): (milliseconds: number) => void {
  const { now } = Date
  // Whole, because sums and differences of fractions are not exact.
  const stopped = { date: Date.now(), performance: Math.ceil(performance.now()) }
  let passed = 0
  Date.now = () => stopped.date + passed
  performance.now = () => stopped.performance + passed
  t.teardown(() => {
    Date.now = now
    Reflect.deleteProperty(performance, 'now')
  })
  return milliseconds => {
    passed += milliseconds
  }
}
