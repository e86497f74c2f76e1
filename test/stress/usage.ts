import { readdirSync } from 'node:fs'

/** What a process holds now. Bytes, and open files and connections. */
export interface Usage {
  heap: number
  resident: number
  descriptors: number
}

/** Of this process, after what it no longer needs is gone: it has to be started with --expose-gc. */
export function usageNow(): Usage {
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  return { heap: heapUsed, resident: rss, descriptors: readdirSync('/dev/fd').length }
}
