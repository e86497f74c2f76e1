import { findSourceMap } from 'node:module'
import { fileURLToPath } from 'node:url'
import { attempt } from './foreign-value.ts'
import type { Location } from './profile.ts'

/** How far up a caller is looked for: deep enough for a query builder between the application and us. */
const depth = 24

/**
 * Where the code stands that called a function, without formatting a stack: the nearest frame above `below`
 * whose file is not skipped. Costs a few microseconds.
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

/** A file's path, whether the stack names it by path or by URL. A URL that is no file's of this machine stays as it is. */
export function pathOf(name: string): string {
  return name.startsWith('file:') ? attempt(() => fileURLToPath(name), name) : name
}

const modules = /[\\/]node_modules[\\/]/

/** True for what the application did not write: Node itself and its dependencies. */
export function isForeign(file: string): boolean {
  return file.startsWith('node:') || !/[\\/]/.test(file) || modules.test(file)
}

/** Where the line stood before it was compiled, if Node knows the file's source map. */
export function originalLocation(location: Location): Location {
  const entry = findSourceMap(location.file)?.findEntry(location.line - 1, location.column - 1)
  if (entry === undefined || !('originalSource' in entry)) return location
  return {
    file: pathOf(entry.originalSource),
    line: entry.originalLine + 1,
    column: entry.originalColumn + 1,
  }
}
