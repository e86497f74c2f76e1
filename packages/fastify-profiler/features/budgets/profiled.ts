import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { attempt, isFunction } from '../../core/foreign-value.ts'
import { complain } from '../../core/guard.ts'
import { watcherOf } from '../../core/package-version.ts'
import type { Profile } from '../../core/profile.ts'
import type { ProfileStore } from '../../core/store/profile-store.ts'
import { storeOf } from '../../options.ts'
import { install, type Profiler } from '../../profiler.ts'

export interface ProfiledResponse {
  response: LightMyRequestResponse
  profile: Profile
}

export interface ProfiledApplication {
  /** Injects a request, like the application's own `inject`. Resolves once its profile is stored. */
  inject(request: InjectOptions | string): Promise<ProfiledResponse>
}

/** A Fastify instance, whatever its type provider and logger. */
type Application = object & Pick<FastifyInstance, 'inject'>

/** The profiles of applications that have no profiler of their own, deleted when the process ends. */
let shared: ProfileStore | null = null

/**
 * Injects requests into an application, and returns the profile of each with its response. An application without the
 * profiler gets one, whose profiles are in a temporary folder.
 * @throws Error if it has none and is loaded already
 */
export function profiled(app: Application): ProfiledApplication {
  const profiler = profilerOf(app)
  return {
    async inject(request) {
      const response = await app.inject(request)
      const token = response.headers['x-debug-token']
      const profile = typeof token === 'string' ? await profiler.find(token) : null
      if (profile === null) throw new Error(`The request has no profile. Its status is ${response.statusCode}.`)
      return { response, profile }
    },
  }
}

function profilerOf(app: Application): Pick<Profiler, 'find'> {
  const watcher = watcherOf(app)?.profiler ?? watch(app)
  if (!canFind(watcher)) throw new Error('Another version of fastify-profiler watches this application.')
  return watcher
}

function watch(app: Application): object {
  if (!isOpen(app)) {
    throw new Error(
      'This application has no profiler, and is loaded already. Call profiled(app) before app.ready(), register ' +
        'fastify-profiler in it, or run the tests with --import fastify-profiler/register.',
    )
  }
  shared ??= temporaryStore()
  return install(app, {}, { complain, shared })
}

/** Whether plugins can be added. Fastify tells only by refusing one. */
function isOpen(app: Application): app is FastifyInstance {
  const register: unknown = Reflect.get(app, 'register')
  return isFunction(register) && attempt(() => Boolean(Reflect.apply(register, app, [nothing])), false)
}

async function nothing(): Promise<void> {}

function temporaryStore(): ProfileStore {
  const directory = mkdtempSync(join(tmpdir(), 'fastify-profiler-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  return storeOf({ directory }, complain)
}

function canFind(watcher: object): watcher is Pick<Profiler, 'find'> {
  return 'find' in watcher && typeof watcher.find === 'function'
}
