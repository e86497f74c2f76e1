import { performance } from 'node:perf_hooks'

/** Counts the milliseconds of one request. */
export class RequestClock {
  /** Milliseconds that the clock stood still. */
  stoodStill = 0
  /** Milliseconds that the profiler spent while the request ran, including those that the clock stood still. */
  ownTime = 0
  #start = performance.now()

  /** Milliseconds since the request came in. */
  now(): number {
    return performance.now() - this.#start
  }

  /** Makes a call of the profiler's that takes none of the request's time: the clock stands still meanwhile. */
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
