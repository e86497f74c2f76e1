import cluster from 'node:cluster'
import type { FastifyInstance } from 'fastify'
import { tell } from '../base/tell.ts'
import type { Profiler } from '../profiler.ts'
import { whenListening } from '../watch/listening.ts'

/** Prints the URL of the pages once the application listens. All workers of a cluster have the same address. */
export function announce(app: FastifyInstance, profiler: Profiler): void {
  if (cluster.worker !== undefined && cluster.worker.id !== 1) return
  whenListening(app, (origin, socket) => {
    tell(socket === null ? profiler.home(origin) : `${profiler.home('')} on ${socket}`)
  })
}
