import { findSourceMap, type SourceMap, type SourceMapping } from 'node:module'
import { fileURLToPath } from 'node:url'
import { attempt } from './foreign-value.ts'
import type { Location } from './profile.ts'

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
  return originalIn(findSourceMap(location.file), location) ?? location
}

/** The source of a location; null if the map has none. */
export function originalIn(map: SourceMap | null | undefined, { line, column }: Location): Location | null {
  let entry = map?.findEntry(line - 1, column - 1)
  // Before the first mapping of a line, the last of an earlier line is found.
  if (isEntry(entry) && entry.generatedLine < line - 1) entry = map?.findEntry(line - 1, Infinity)
  if (!isEntry(entry)) return null
  return { file: pathOf(entry.originalSource), line: entry.originalLine + 1, column: entry.originalColumn + 1 }
}

function isEntry(entry: object | undefined): entry is SourceMapping {
  return entry !== undefined && 'originalSource' in entry
}
