// node --import fastify-profiler/register app.js profiles every Fastify application of the process.
import cluster from 'node:cluster'
import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'
import { complain, tell } from './core/guard.ts'
import { watcherOf } from './core/package-version.ts'
import type { ProfileStore } from './core/store/profile-store.ts'
import { whenListening } from './core/watch/arrival.ts'
import { environmentOptions, isProduction, type ProfilerOptions, storeOf } from './options.ts'
import { install, type Profiler } from './profiler.ts'

// Fastify publishes this at the end of its constructor, before any code of the application.
subscribe('fastify.initialization', message => {
  if (isInitialization(message)) adopt(message.fastify)
})

function isInitialization(message: unknown): message is { fastify: FastifyInstance } {
  return typeof message === 'object' && message !== null && 'fastify' in message
}

/** What all applications of the process share. */
let shared: { options: ProfilerOptions; store: ProfileStore } | null = null

/** Profiles an application that its constructor has just made, unless there is a reason not to. */
function adopt(app: FastifyInstance): void {
  const reason = reasonAgainst(app)
  if (reason !== null) return tell(reason)
  try {
    shared ??= share()
    announce(app, install(app, shared.options, { complain, advise: tell, shared: shared.store }))
  } catch (error) {
    complain(error, 'An application runs without the profiler')
  }
}

function reasonAgainst(app: FastifyInstance): string | null {
  if (isProduction() && !/[^\s,]/.test(process.env.FASTIFY_PROFILER_ALLOW ?? '')) {
    return (
      'Profiling is off because NODE_ENV is production. ' +
      'To turn it on, list the addresses that may see profiles in FASTIFY_PROFILER_ALLOW.'
    )
  }
  if (!/^5\./.test(app.version)) return `Fastify ${app.version} is not profiled. The profiler needs Fastify 5.`
  const watcher = watcherOf(app)
  return watcher === null ? null : `Another copy of the profiler, ${watcher.version}, watches the application already.`
}

/** Ends the process if an option is invalid. */
function share() {
  try {
    const options = environmentOptions(process.env, process.cwd())
    return { options, store: storeOf(options, complain) }
  } catch (error) {
    complain(error, 'The application does not start')
    process.exit(1)
  }
}

/** Prints the URL of the pages once the application listens. All workers of a cluster have the same address. */
function announce(app: FastifyInstance, profiler: Profiler): void {
  if (cluster.worker !== undefined && cluster.worker.id !== 1) return
  whenListening(app, (origin, socket) => {
    tell(socket === null ? profiler.home(origin) : `${profiler.home('')} on ${socket}`)
  })
}
