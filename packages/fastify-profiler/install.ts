import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { passThrough } from './base/caller.ts'
import { packageVersion } from './base/package-version.ts'
import { markAsWatched } from './base/watched-by.ts'
import { partsOf, type ProfilerOptions, type Terms } from './options.ts'
import { Profiler } from './profiler.ts'
import { installDrivers, lookForModules } from './watch/drivers/install-drivers.ts'

/** Milliseconds that the start waits for drivers, whose loading takes long on a busy machine. */
const driversPatience = 2000

/** Makes a profiler watch an application that none watches yet. It sees what is registered from now on. */
export function install(app: FastifyInstance, options: ProfilerOptions, terms: Terms): Profiler {
  passThrough(options.passThrough ?? [])
  const parts = partsOf(app, options, terms)
  const drivers = installDrivers([parts.root, process.cwd()], parts.complain)
  const profiler = new Profiler(parts)
  markAsWatched(app, { version: packageVersion, profiler })
  // Fastify gives a hook up after pluginTimeout, and the application shall not fail because of the profiler.
  const patience = Math.min(driversPatience, (app.initialConfig.pluginTimeout ?? 0) / 4 || driversPatience)
  // Before the profiler watches hooks, so that its own is none of the application's.
  app.addHook('onReady', async function storeConfiguration() {
    await Promise.race([drivers, sleep(patience, undefined, { ref: false })])
    lookForModules()
    profiler.configure()
  })
  profiler.install()
  app.addHook('onClose', async function stopProfiler() {
    await profiler.stop()
  })
  return profiler
}
