import { findSourceMap } from 'node:module'
import { fileURLToPath } from 'node:url'
import { attempt } from './foreign-value.ts'
import type { Location } from './profile.ts'

/** Stack frames searched for the caller: enough to get past a query builder. */
const depth = 24

/**
 * Finds the caller of `below`: the nearest stack frame above it whose file is not skipped. Takes a few microseconds,
 * since no stack is formatted.
 * @returns null if there is no such frame
 */
export function captureCallSite(
  below: object & ((...args: never[]) => unknown),
  skip: (file: string) => boolean,
): Location | null {
  const { prepareStackTrace, stackTraceLimit } = Error
  let location: Location | null = null
  Error.stackTraceLimit = depth
  Error.prepareStackTrace = (_error, sites) => {
    location = nearest(sites, skip)
    return ''
  }
  const holder = {}
  Error.captureStackTrace(holder, below)
  // Reading the stack is what calls prepareStackTrace.
  Reflect.get(holder, 'stack')
  Error.prepareStackTrace = prepareStackTrace
  Error.stackTraceLimit = stackTraceLimit
  return location
}

function nearest(sites: NodeJS.CallSite[], skip: (file: string) => boolean): Location | null {
  for (const site of sites) {
    const name = site.getFileName()
    if (typeof name !== 'string') continue
    const file = pathOf(name)
    if (skip(file)) continue
    return { file, line: Number(site.getLineNumber()), column: Number(site.getColumnNumber()) }
  }
  return null
}

/** Converts a file URL to a path. Paths and invalid URLs stay as they are. */
export function pathOf(name: string): string {
  return name.startsWith('file:') ? attempt(() => fileURLToPath(name), name) : name
}

const modules = /[\\/]node_modules[\\/]/

/** Whether a file belongs to Node or to a dependency rather than to the application. */
export function isForeign(file: string): boolean {
  return file.startsWith('node:') || !/[\\/]/.test(file) || modules.test(file)
}

/** Maps a location to its source, if Node has loaded the file's source map. */
export function originalLocation(location: Location): Location {
  const entry = findSourceMap(location.file)?.findEntry(location.line - 1, location.column - 1)
  if (entry === undefined || !('originalSource' in entry)) return location
  return {
    file: pathOf(entry.originalSource),
    line: entry.originalLine + 1,
    column: entry.originalColumn + 1,
  }
}
