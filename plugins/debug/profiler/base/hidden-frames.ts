import { findSourceMap } from 'node:module'
import { pathOf } from './call-site.ts'

/** Files that stand between an application's functions, by every name that a stack may give them. */
const hidden = new Set<string>()

const longestLine = 1000
const frame = /^[ \t]+at (?:.* \()?(\S+):\d+:\d+\)?$/
const nodeCall = /^[ \t]+at (?:AsyncLocalStorage\.run|Reflect\.apply) \(/

/**
 * Keeps a file's frames out of the stacks that pages show: the profiler's wrappers and hooks are on each of them.
 * @param file the file's own import.meta.filename
 */
export function hideFrames(file: string): void {
  hidden.add(file)
  // Where Node maps stacks, they name the source instead.
  const maps = [findSourceMap(file)].filter(map => map !== undefined)
  for (const source of maps.flatMap(map => map.payload.sources)) hidden.add(pathOf(source))
}

export function isHidden(file: string): boolean {
  return hidden.has(file)
}

/** A stack as text without the frames of hidden files, and without those of Node through which they call. */
export function withoutHiddenFrames(text: string): string {
  const lines: string[] = []
  for (const line of text.split('\n')) {
    if (isHiddenFrame(line)) while (nodeCall.test(String(lines.at(-1)))) lines.pop()
    else lines.push(line)
  }
  return lines.join('\n')
}

function isHiddenFrame(line: string): boolean {
  const file = line.length > longestLine ? undefined : frame.exec(line)?.[1]
  return file !== undefined && isHidden(pathOf(file))
}
