import { readdirSync } from 'node:fs'

/** What a process uses: bytes, and open files and connections. */
export interface Usage {
  heap: number
  resident: number
  descriptors: number
}

/** The usage of this process after a garbage collection. Needs --expose-gc. */
export function usageNow(): Usage {
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  return { heap: heapUsed, resident: rss, descriptors: readdirSync('/dev/fd').length }
}

export function megabytes(bytes = NaN): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MB`
}
