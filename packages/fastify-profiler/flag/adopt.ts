import type { FastifyInstance } from 'fastify'
import { watcherOf } from '../base/watched-by.ts'
import { install } from '../install.ts'
import { isProduction, storeOf, type ProfilerOptions } from '../options.ts'
import type { ProfileStore } from '../store/profile-store.ts'
import { announce } from './announce.ts'
import { environmentOptions } from './environment-options.ts'
import { complain, tell } from '../base/tell.ts'

/** What all applications of the process share. */
let shared: { options: ProfilerOptions; store: ProfileStore } | null = null

/** Profiles an application that its constructor has just made, unless there is a reason not to. */
export function adopt(app: FastifyInstance): void {
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
