import { existsSync, readFileSync, statSync } from 'node:fs'
import { findSourceMap, SourceMap, type SourceMapping } from 'node:module'
import { dirname, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { attempt, isRecord } from './foreign-value.ts'
import type { Location } from './profile.ts'

let captured: NodeJS.CallSite[] = []

function keepSites(_error: unknown, sites: NodeJS.CallSite[]): string {
  captured = sites
  return ''
}

/** Captures up to `frames` stack frames above the call of `below`, nearest first. No stack is formatted. */
export function captureSites(
  below: object & ((...args: never[]) => unknown),
  frames: number,
): readonly NodeJS.CallSite[] {
  const { prepareStackTrace, stackTraceLimit } = Error
  Error.stackTraceLimit = frames
  Error.prepareStackTrace = keepSites
  const holder = {}
  Error.captureStackTrace(holder, below)
  // Reading the stack is what calls prepareStackTrace.
  Reflect.get(holder, 'stack')
  Error.prepareStackTrace = prepareStackTrace
  Error.stackTraceLimit = stackTraceLimit
  const sites = captured
  captured = []
  return sites
}

const folder = dirname(fileURLToPath(import.meta.resolve('fastify-profiler/package.json'))) + sep
const notShipped = ['bench', 'dist/bench', 'test', 'dist/test', 'examples'].map(name => join(folder, name) + sep)

/**
 * Whether a file is the profiler's own: its wrappers are on all stacks. In a workspace, it is not below node_modules,
 * and with --enable-source-maps stacks name its sources.
 */
export function isProfilerFile(file: string): boolean {
  return file.startsWith(folder) && !notShipped.some(other => file.startsWith(other))
}

/** Converts a file URL to a path. Paths and invalid URLs stay as they are. */
export function pathOf(name: string): string {
  return name.startsWith('file:') ? attempt(() => fileURLToPath(name), name) : name
}

const modules = /[\\/]node_modules[\\/]/

/** Whether a file belongs to Node or to a dependency rather than to the application. */
export function isForeign(file: string): boolean {
  return file.startsWith('node:') || !/[\\/]/.test(file) || modules.test(file) || isGenerated(file)
}

/** Whether a file belongs to a client that Prisma has generated into a folder of the application. */
function isGenerated(file: string): boolean {
  return [dirname(file), dirname(dirname(file))].some(folder => {
    const manifest = attempt(() => readFileSync(join(folder, 'package.json'), 'utf8'), '')
    return /"name": "prisma-client-[\da-f]{64}"/.test(manifest)
  })
}

/** Maps a location to its source, by the map that Node has loaded, or by the one beside the file. */
export function originalLocation(location: Location): Location {
  return originalIn(findSourceMap(location.file) ?? mapBeside(location.file), location) ?? location
}

const maps = new Map<string, SourceMap | null>()

function mapBeside(file: string): SourceMap | null {
  const known = maps.get(file)
  if (known !== undefined) return known
  const isSmall = attempt(() => statSync(file).size <= largestFile, false)
  const map = isSmall ? attempt(() => readSourceMap(file, readFileSync(file, 'utf8')), null) : null
  maps.set(file, map)
  return map
}

/** Larger files are bundles, whose maps take long to read. */
const largestFile = 2_000_000

/** The source map beside a compiled file. @param text the file's */
export function readSourceMap(file: string, text: string): SourceMap | null {
  const name = /\n\/\/# sourceMappingURL=([^\s:]+\.map)\s*$/.exec(text.slice(-1000))?.[1]
  if (name === undefined) return null
  const path = resolve(dirname(file), name)
  const payload: unknown = JSON.parse(readFileSync(path, 'utf8'))
  if (!isPayload(payload)) return null
  const sources = payload.sources.map(source => resolve(dirname(path), payload.sourceRoot || '.', source))
  return new SourceMap({ ...payload, sources })
}

function isPayload(value: unknown): value is ConstructorParameters<typeof SourceMap>[0] {
  return isRecord(value) && Array.isArray(value.sources) && typeof value.mappings === 'string'
}

/** The source of a location; null if the map has none, or one that was not shipped. */
export function originalIn(map: SourceMap | null | undefined, { file, line, column }: Location): Location | null {
  let entry = map?.findEntry(line - 1, column - 1)
  // Before the first mapping of a line, the last of an earlier line is found.
  if (isEntry(entry) && entry.generatedLine < line - 1) entry = map?.findEntry(line - 1, Infinity)
  if (map === null || map === undefined || !isEntry(entry)) return null
  const original = pathOf(entry.originalSource)
  // The application's developers know a source that is elsewhere, but not one of a library.
  const isShown = attempt(() => existsSync(original), false) || (!isForeign(file) && hasText(map, entry.originalSource))
  if (!isShown) return null
  return { file: original, line: entry.originalLine + 1, column: entry.originalColumn + 1 }
}

/** Whether a map contains the text of a source. */
function hasText({ payload: { sources, sourcesContent } }: SourceMap, source: string): boolean {
  const texts: readonly unknown[] = sourcesContent ?? []
  return typeof texts[sources.indexOf(source)] === 'string'
}

function isEntry(entry: object | undefined): entry is SourceMapping {
  return entry !== undefined && 'originalSource' in entry
}

/** Frames that find the caller of almost any library. */
const mostFrames = 64

/** Frames in which the callers of a caller are looked for. */
const callersSought = 6

/**
 * How many frames it took to find the last caller of each function. No more are captured, since each costs time.
 */
const framesNeeded = new WeakMap<object, number>()

interface KnownFile {
  path: string
  /** Whether it belongs to a library, to the profiler, or only passes calls on. */
  isSkipped: boolean
  /** The locations in it by position. Equal locations are one object. */
  places: Map<number, Location>
}

const files = new Map<string, KnownFile>()
const passing = new Set<string>()

/** Never shows a place in these files or folders as the caller: they only pass calls on. */
export function passThrough(paths: Iterable<string>): void {
  for (const path of paths) passing.add(resolve(path))
  files.clear()
}

/** Lines that were found to only pass calls on, in files that do more. */
const passingLines = new WeakSet<Location>()

/** Shows the caller of a line instead of the line from now on, if the application has one. */
export function passOn(line: Location): void {
  passingLines.add(line)
}

/** Finds the application's line that called `below`, also through `await`; null if there is none on the stack. */
export function findCaller(below: object & ((...args: never[]) => unknown)): Location | null {
  const few = framesNeeded.get(below) ?? 4
  const sites = captureSites(below, few)
  const caller = nearest(sites, below)
  const isFinal = caller !== null && !passingLines.has(caller)
  return isFinal || sites.length < few ? caller : nearest(captureSites(below, mostFrames), below)
}

/** The nearest line; one that passes calls on only if there is no other. */
function nearest(sites: readonly NodeJS.CallSite[], below: object): Location | null {
  let passing: Location | null = null
  for (const [index, site] of sites.entries()) {
    const place = ownPlace(site)
    if (place === null || onlyPromises(sites, index)) continue
    passing ??= place
    if (passingLines.has(place)) continue
    framesNeeded.set(below, index + 1)
    return place
  }
  return passing
}

/** The lines of the application that led to a line which called `below`, nearest first; none if it is not there. */
export function callersAbove(line: Location, below: object & ((...args: never[]) => unknown)): Location[] {
  const sites = captureSites(below, (framesNeeded.get(below) ?? 4) + callersSought)
  const places = sites.flatMap((site, index) => (onlyPromises(sites, index) ? [] : (ownPlace(site) ?? [])))
  const index = places.indexOf(line)
  return index === -1 ? [] : places.slice(index + 1)
}

/** Whether a frame only creates a promise whose executor, a function of the application, makes the call. */
function onlyPromises(sites: readonly NodeJS.CallSite[], index: number): boolean {
  const [executor, promise] = [sites[index - 2], sites[index - 1]]
  const isPromise = promise?.isConstructor() === true && promise.getFunctionName() === 'Promise'
  return isPromise && executor !== undefined && ownPlace(executor) !== null
}

/** The line of a frame; null if it does not belong to the application. */
function ownPlace(site: NodeJS.CallSite): Location | null {
  const name = site.getFileName()
  if (typeof name !== 'string') return null
  const file = files.get(name) ?? learnFile(name)
  return file.isSkipped ? null : placeOf(site, file)
}

function placeOf(site: NodeJS.CallSite, file: KnownFile): Location {
  const position = site.getPosition()
  const known = file.places.get(position)
  if (known !== undefined) return known
  const [line, column] = [site.getLineNumber() ?? 0, site.getColumnNumber() ?? 0]
  const location = originalLocation({ file: file.path, line, column })
  file.places.set(position, location)
  return location
}

function learnFile(name: string): KnownFile {
  const path = pathOf(name)
  const isSkipped = isForeign(path) || isProfilerFile(path) || passesOn(path)
  const file = { path, isSkipped, places: new Map<number, Location>() }
  files.set(name, file)
  return file
}

function passesOn(path: string): boolean {
  let folder = path
  while (!passing.has(folder) && folder !== dirname(folder)) folder = dirname(folder)
  return passing.has(folder)
}

const longestLine = 1000
const frame = /^[ \t]+at (?:.*? \()?(?:async )?((?:file:\/\/|[A-Za-z]:[\\/]|\\\\|\/).*):\d+:\d+\)?$/
const nodeCall = /^[ \t]+at (?:AsyncLocalStorage\.run|Reflect\.apply) \(/

/** Removes the profiler's frames from a stack, and the frames of Node through which they call. */
export function withoutHiddenFrames(text: string): string {
  const lines: string[] = []
  for (const line of text.split('\n')) {
    if (isHiddenFrame(line)) while (nodeCall.test(lines.at(-1) ?? '')) lines.pop()
    else lines.push(line)
  }
  return lines.join('\n')
}

function isHiddenFrame(line: string): boolean {
  const file = line.length > longestLine ? undefined : frame.exec(line)?.[1]
  return file !== undefined && isProfilerFile(pathOf(file))
}
