import { performance } from 'node:perf_hooks'

/** Measures the time of one request. */
export class RequestClock {
  /** Milliseconds for which the clock was stopped. */
  stoodStill = 0
  /** Milliseconds that the profiler spent while the request ran, with the clock stopped or not. */
  ownTime = 0
  #start = performance.now()

  /** Milliseconds since the request arrived, without those for which the clock was stopped. */
  now(): number {
    return performance.now() - this.#start
  }

  /** Makes a call with the clock stopped. */
  aside<Result>(call: () => Result): Result {
    const before = performance.now()
    try {
      return call()
    } finally {
      const took = performance.now() - before
      this.ownTime += took
      this.stoodStill += took
      this.#start += took
    }
  }
}
