import cluster from 'node:cluster'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { defaultProfileBounds, defaultStoreBounds, InvalidOption } from './core/bounds.ts'
import { isObject, isRecord } from './core/foreign-value.ts'
import { complain, tell } from './core/guard.ts'
import { watcherOf } from './core/package-version.ts'
import type { ProfileStore } from './core/store/profile-store.ts'
import { whenListening } from './core/watch/arrival.ts'
import { checkOptions, isProduction, type ProfilerOptions, storeOf } from './options.ts'
import { install, type Profiler } from './profiler.ts'

/** Prints the URL of the pages once the application listens. All workers of a cluster have the same address. */
function announce(app: FastifyInstance, profiler: Profiler): void {
  if (cluster.worker !== undefined && cluster.worker.id !== 1) return
  whenListening(app, (origin, socket) => {
    tell(socket === null ? profiler.home(origin) : `${profiler.home('')} on ${socket}`)
  })
}

/** An option as written in the environment or package.json. */
interface Setting {
  option: string
  /** Its name as the user wrote it. */
  name: string
  value: unknown
}

/** Every option that can be written as text. */
const options: Record<string, (options: ProfilerOptions, value: unknown, option: string) => void> = {}
for (const name of ['base', 'directory', 'editorUrl', 'linkOrigin', 'root'] as const) {
  options[name] = (options, value, option) => {
    options[name] = text(value, option)
  }
}
for (const name of ['allow', 'trustedHosts', 'propagateTo', 'passThrough', 'secrets'] as const) {
  options[name] = (options, value, option) => {
    options[name] = list(value, option)
  }
}
options.allowLoopback = (options, value, option) => {
  options.allowLoopback = yesOrNo(value, option)
}
options.patience = (options, value, option) => {
  options.patience = number(value, option)
}
for (const name of Object.keys(defaultStoreBounds)) {
  options[`storeBounds.${name}`] = (options, value, option) => {
    options.storeBounds = { ...options.storeBounds, [name]: number(value, option) }
  }
}
for (const name of Object.keys(defaultProfileBounds)) {
  options[`profileBounds.${name}`] = (options, value, option) => {
    options.profileBounds = { ...options.profileBounds, [name]: number(value, option) }
  }
}

const prefix = 'FASTIFY_PROFILER_'
const optionOf = new Map(Object.keys(options).map(option => [variableOf(option), option]))

/**
 * Reads the options from FASTIFY_PROFILER_* and from the key "fastify-profiler" of the nearest package.json. The
 * environment wins. Throws an error that names the variable if one is invalid.
 */
export function environmentOptions(environment: Record<string, string | undefined>, folder: string): ProfilerOptions {
  const result: ProfilerOptions = {}
  for (const { option, name, value } of [...packageSettings(folder), ...variables(environment)]) {
    const set = options[option]
    if (set === undefined) {
      throw new Error(`${name} is not an option. The options are ${[...optionOf.keys()].join(', ')}.`)
    }
    named(name, () => {
      set(result, value, option)
      checkOptions(result)
    })
  }
  return result
}

/** The environment variable of an option: FASTIFY_PROFILER_STORE_BOUNDS_BYTES for "storeBounds.bytes". */
function variableOf(option: string): string {
  return (
    prefix +
    option
      .replace(/[A-Z.]/g, letter => `_${letter}`)
      .replace('.', '')
      .toUpperCase()
  )
}

/** Makes a call. If it throws, the error begins with a name. */
function named<Result>(name: string, call: () => Result): Result {
  try {
    return call()
  } catch (error) {
    throw new Error(
      `${name} ${error instanceof InvalidOption ? error.requirement : `cannot be read: ${String(error)}`}`,
    )
  }
}

function variables(environment: Record<string, string | undefined>): Setting[] {
  return Object.entries(environment)
    .filter(([name, value]) => name.startsWith(prefix) && value !== '')
    .map(([name, value]) => ({ option: optionOf.get(name) ?? name, name, value }))
}

function packageSettings(folder: string): Setting[] {
  const file = join(folder, 'package.json')
  if (!existsSync(file)) return dirname(folder) === folder ? [] : packageSettings(dirname(folder))
  const content = named(file, (): unknown => JSON.parse(readFileSync(file, 'utf8')))
  if (!isObject(content) || !('fastify-profiler' in content)) return []
  const given = content['fastify-profiler']
  if (!isRecord(given)) {
    throw new Error(`"fastify-profiler" in ${file} must be an object, not ${JSON.stringify(given)}.`)
  }
  return membersOf(given).map(([option, value]) => ({
    option,
    name: `"${option}" under "fastify-profiler" in ${file}`,
    value,
  }))
}

/** The members of an object; those of an object in it are named as "storeBounds.bytes". */
function membersOf(values: object): [string, unknown][] {
  return Object.entries(values).flatMap(([name, value]: [string, unknown]): [string, unknown][] =>
    isRecord(value) ? membersOf(value).map(([inner, value]) => [`${name}.${inner}`, value]) : [[name, value]],
  )
}

function text(value: unknown, option: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw new InvalidOption(option, `must be text, not ${JSON.stringify(value)}.`)
}

/** A list is separated by commas in the environment, and an array in package.json. */
function list(value: unknown, option: string): string[] {
  const items: unknown[] = Array.isArray(value) ? value : text(value, option).split(',')
  return items.map(item => text(item, option).trim()).filter(item => item !== '')
}

function yesOrNo(value: unknown, option: string): boolean {
  const text = String(value)
  if (text === 'true' || text === 'false') return text === 'true'
  throw new InvalidOption(option, `must be true or false, not ${JSON.stringify(value)}.`)
}

function number(value: unknown, option: string): number {
  const result = typeof value === 'string' ? Number(value) : value
  if (typeof result === 'number' && Number.isFinite(result)) return result
  throw new InvalidOption(option, `must be a number, not ${JSON.stringify(value)}.`)
}

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
