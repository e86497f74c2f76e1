// The first frames of a stack cost 3 µs, 30 of them 16: `npm run -w bench callers`. So only as many are captured as it
// took to find the last caller of the same function.
import { dirname } from 'node:path'
import { captureSites } from './capture-sites.ts'
import { isProfilerFile } from './profiler-files.ts'
import { isForeign, originalLocation, pathOf } from './location.ts'
import type { Location } from './profile.ts'

/** Frames that find the caller of almost any library. */
const mostFrames = 64

/** How many frames it took to find the last caller of each function. */
const framesNeeded = new WeakMap<object, number>()

/** What is known of a file that is on stacks. */
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
  for (const path of paths) passing.add(path)
  files.clear()
}

/** Finds the application's line that called `below`, also through `await`; null if there is none on the stack. */
export function findCaller(below: object & ((...args: never[]) => unknown)): Location | null {
  const few = framesNeeded.get(below) ?? 4
  const sites = captureSites(below, few)
  const caller = nearest(sites, below)
  return caller !== null || sites.length < few ? caller : nearest(captureSites(below, mostFrames), below)
}

function nearest(sites: readonly NodeJS.CallSite[], below: object): Location | null {
  for (const [index, site] of sites.entries()) {
    const name = site.getFileName()
    if (typeof name !== 'string') continue
    const file = files.get(name) ?? learnFile(name)
    if (file.isSkipped) continue
    framesNeeded.set(below, index + 1)
    return placeOf(site, file)
  }
  return null
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
