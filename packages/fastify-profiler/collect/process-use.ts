import { performance } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import { toMicroseconds } from '../base/microseconds.ts'
import type { EventLoopUse, MemoryUse } from '../base/profile.ts'
import type { Recorder } from '../watch/recorder.ts'

/** How busy the event loop was during a request, without the time that the profiler stopped its clock. */
export function eventLoopUse({ loopAtStart, clock }: Recorder): EventLoopUse {
  const loop = performance.eventLoopUtilization(loopAtStart)
  const active = Math.max(0, loop.active - clock.stoodStill)
  // Divides by at least a microsecond.
  const utilization = active / Math.max(active + loop.idle, 0.001)
  return {
    utilization: Math.round(utilization * 1000) / 1000,
    active: toMicroseconds(active),
    idle: toMicroseconds(loop.idle),
  }
}

export function memoryUse({ heapAtStart }: Recorder): MemoryUse {
  const heap = getHeapStatistics()
  return {
    heapUsedAtStart: heapAtStart,
    heapUsedAtEnd: heap.used_heap_size,
    heapTotal: heap.total_heap_size,
    heapLimit: heap.heap_size_limit,
  }
}
