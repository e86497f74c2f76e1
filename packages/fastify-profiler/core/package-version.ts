import { readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { isObject } from './foreign-value.ts'

const manifest = readFileSync(new URL(import.meta.resolve('fastify-profiler/package.json')), 'utf8')

export const packageVersion = /"version": "(.*)"/.exec(manifest)?.[1] ?? ''

/** Shared by all copies of the package, so that only one watches an application. */
const key = Symbol.for('fastify-profiler')

/** The profiler that watches an application, which may be of another copy of the package. */
interface Watcher {
  version: string
  profiler: object
}

/** The profiler that watches an application or the application around it; null if there is none. */
export function watcherOf(app: object): Watcher | null {
  const watcher: unknown = Reflect.get(app, key)
  return isWatcher(watcher) ? watcher : null
}

export function markAsWatched(app: object, watcher: Watcher): void {
  Object.defineProperty(app, key, { value: watcher })
}

function isWatcher(value: unknown): value is Watcher {
  return isObject(value) && 'version' in value && 'profiler' in value && isObject(value.profiler)
}

/** This process, as profiles name it. The start belongs to it, since systems use the ids of processes again. */
export const thisProcess = { id: process.pid, startedAt: Math.round(performance.timeOrigin) }

export function isThisProcess({ id, startedAt }: typeof thisProcess): boolean {
  return id === thisProcess.id && startedAt === thisProcess.startedAt
}
