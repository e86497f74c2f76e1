import Module, { createRequire } from 'node:module'
import { Socket } from 'node:net'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { captureSites, isProfilerFile, pathOf } from '../../../core/call-site.ts'
import type { PageSources, RunningFeature } from '../../../core/feature.ts'
import { type AnyFunction, attempt, isObject, listOf, propertyOf, setMethod } from '../../../core/foreign-value.ts'
import { driverBoundary } from '../../../core/guard.ts'
import type { Unseen } from '../../../core/profile.ts'
import { type Dependent, dependentsIn, unwatchedLibraries } from '../unwatched.ts'
import { type Driver, replaceMethod } from './driver.ts'
import { drizzleDriver } from './drizzle.ts'
import { graphqlDriver } from '../../exceptions/caught-elsewhere.ts'
import { knexDriver } from './knex.ts'
import { kyselyDriver } from './kysely.ts'
import { mongodbDriver } from './mongodb.ts'
import { mysql2Driver } from './mysql2.ts'
import { pgDriver } from './pg.ts'
import { postgresDriver } from './postgres.ts'
import { channelDriver, ioredisDriver, redisDriver } from './redis.ts'
import { sqliteDriver } from './sqlite.ts'
import { tediousDriver } from './tedious.ts'

/** To watch another library, add its file here. */
const allDrivers: readonly Driver[] = [
  channelDriver,
  pgDriver,
  postgresDriver,
  mysql2Driver,
  kyselyDriver,
  knexDriver,
  drizzleDriver,
  mongodbDriver,
  ioredisDriver,
  redisDriver,
  sqliteDriver,
  tediousDriver,
  graphqlDriver,
]

/** The package of a file, also in pnpm's folders: that below the last node_modules. */
const packageOfFile = /^.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/

/** The package of a specifier: "mysql2" of "mysql2/promise". */
const packageOfSpecifier = /^(?:@[^\\/]+\/)?[^\\/.][^\\/]*/

const { cache } = createRequire(import.meta.url)
const seen = new WeakSet<object>()
const watchedPackages = new Set<string>()

/** The folders of patched modules. Other copies are not watched, such as those that jest loads past Node. */
const patchedFolders = new Set<string>()

/** Watches the libraries that will be loaded. Calls outside profiled requests pass at the cost of one look-up. */
export function installDrivers(): void {
  for (const driver of allDrivers) {
    for (const name of driver.packages ?? []) watchedPackages.add(name)
    driverBoundary.guard(() => driver.subscribe?.(), undefined)
  }
  watchLoading()
  replaceMethod(Socket.prototype, 'connect', watchedSocket)
}

/** The ports of databases, to which only libraries connect: one that is not watched is unknown, or bundled. */
const databasePorts = new Set([1433, 3306, 5432, 6379, 27017])

/** Called with what sends something to the port of a database and is not watched. */
const strangerListeners = new Set<(file: string, port: number) => void>()
const framesSearched = 16

function watchedSocket(connect: AnyFunction): AnyFunction {
  return function watched(this: Socket, ...args: unknown[]): unknown {
    // First, because connect() resets the socket's own `write`.
    const result: unknown = Reflect.apply(connect, this, args)
    driverBoundary.guard(() => {
      // Options, alone or in the list that Node makes of arguments, or the port itself.
      const first: unknown = listOf(args[0])[0] ?? args[0]
      const port = Number(propertyOf(first, 'port') ?? first)
      if (!databasePorts.has(port)) return
      const files = captureSites(watched, framesSearched).map(site => pathOf(site.getFileName() ?? ''))
      const file = files.find(file => /^(?!node:).*[\\/]/.test(file) && !isProfilerFile(file))
      if (file === undefined || isWatched(file)) return
      whenWritten(this, () => {
        // It may have been patched since.
        if (isWatched(file)) return
        for (const listen of strangerListeners) listen(file, port)
      })
    }, undefined)
    return result
  }
}

function isWatched(file: string): boolean {
  return watchedPackages.has(nameOf(file)) && (file in cache || patchedFolders.has(dirname(file)))
}

/** Tells of the first write. A socket that sends nothing only finds out whether the server is there. */
function whenWritten(socket: Socket, tell: () => void): void {
  const { write } = socket
  setMethod(socket, 'write', function written(this: unknown, ...args: unknown[]): unknown {
    if (socket.write === written) setMethod(socket, 'write', write)
    driverBoundary.guard(tell, undefined)
    return Reflect.apply(write, this, args)
  })
}

/** Watches the libraries that an application has loaded, and tells of those that nothing watches. */
export function watchLibraries({ advise, notes, root, unseen }: PageSources): RunningFeature {
  lookForModules()
  const patched = [...new Set([root, process.cwd()])].flatMap(folder => {
    const dependents = dependentsIn(folder)
    return allDrivers.map(driver => patchModules(driver, folder, dependents))
  })
  const add = (library: Unseen) => {
    if (unseen.some(({ name }) => name === library.name)) return
    unseen.push(library)
    notes.add(library.says)
    advise?.(library.says)
  }
  const addStranger = (file: string, port: number) => {
    const name = nameOf(file) || relative(root, file)
    add({
      what: 'queries',
      name,
      says: `${name} connects to port ${port} and is not watched: queries that it sends are missing.`,
    })
  }
  unwatchedLibraries(root).forEach(add)
  strangerListeners.add(addStranger)
  return {
    prepared: Promise.all(patched).then(() => {}),
    ready: lookForModules,
    stop: () => strangerListeners.delete(addStranger),
  }
}

/** Patches what was loaded without a word: Node's own modules, when they are imported by ES modules. */
function lookForModules(): void {
  driverBoundary.guard(() => {
    patchLoaded()
    // Only if it is loaded, since loading it prints a warning.
    const loaded: unknown = Reflect.get(process, 'moduleLoadList')
    if (!Array.isArray(loaded) || !loaded.includes('NativeModule sqlite')) return
    patch('node:sqlite', process.getBuiltinModule('node:sqlite'))
  }, undefined)
}

/** Node loads every CommonJS module with this method, also those that ES modules import. */
function watchLoading(): void {
  replaceMethod(Module, '_load', load => {
    return function watched(this: unknown, ...args: unknown[]): unknown {
      const exports: unknown = Reflect.apply(load, this, args)
      const [request] = args
      if (typeof request === 'string') driverBoundary.guard(() => patchPackage(nameOf(request), exports), undefined)
      return exports
    }
  })
}

function nameOf(request: string): string {
  return (packageOfFile.exec(request)?.[1] ?? packageOfSpecifier.exec(request)?.[0] ?? '').replace('\\', '/')
}

/** Patches a package with all its inner modules, since their classes may be exported nowhere else. */
function patchPackage(name: string, exports: unknown): void {
  if (!watchedPackages.has(name) || !isObject(exports) || seen.has(exports)) return
  patchLoaded()
  patch(name, exports)
}

function patchLoaded(): void {
  for (const [file, module] of Object.entries(cache)) {
    // A module that is still loading may export more.
    if (module?.loaded !== true || !watchedPackages.has(nameOf(file))) continue
    patchedFolders.add(dirname(file))
    patch(nameOf(file), module.exports)
  }
}

function patch(name: string, exports: unknown): void {
  if (!isObject(exports) || seen.has(exports)) return
  seen.add(exports)
  for (const { packages = [], patch } of allDrivers) {
    if (packages.includes(name)) driverBoundary.guard(() => patch?.(exports), undefined)
  }
}

/** Nothing tells of ES modules that are loaded later, so that they are loaded now, if the application has them. */
async function patchModules(
  { packages = [], moduleFiles }: Driver,
  folder: string,
  dependents: readonly Dependent[],
): Promise<void> {
  if (moduleFiles === undefined) return
  const installed = dependents.flatMap(({ names }) => names)
  for (const name of packages) {
    const from = dependents.filter(({ names }) => names.includes(name)).map(({ file }) => file)
    const copies = [join(folder, 'package.json'), ...from].flatMap(
      file => attempt(() => createRequire(file).resolve(name), null) ?? [],
    )
    const files = new Set(copies.flatMap(file => moduleFiles(file, installed)))
    for (const file of files) patchedFolders.add(dirname(file))
    for (const moduleFile of files) {
      try {
        const exports: unknown = await import(pathToFileURL(moduleFile).href)
        patch(name, exports)
      } catch (error) {
        driverBoundary.tell(error)
      }
    }
  }
}
