import { performance } from 'node:perf_hooks'

/** Measures a command. @returns a function that tells what it has taken so far */
export function effort() {
  const begun = performance.now()
  return () => {
    const seconds = ((performance.now() - begun) / 1000).toFixed(1)
    const memory = peakMemory()
    return { seconds: Number(seconds), memory, sentence: `in ${seconds} s, with ${memory} MB of memory.` }
  }
}

/** The process's peak memory in megabytes. */
function peakMemory(): number {
  return Math.round(process.resourceUsage().maxRSS / 1024)
}
