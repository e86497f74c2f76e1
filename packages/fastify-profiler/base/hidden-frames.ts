import { findSourceMap } from 'node:module'
import { pathOf } from './location.ts'

/** Files of the profiler that call the application's functions, under every name a stack may use. */
const hidden = new Set<string>()

const longestLine = 1000
const frame = /^[ \t]+at (?:.* \()?(\S+):\d+:\d+\)?$/
const nodeCall = /^[ \t]+at (?:AsyncLocalStorage\.run|Reflect\.apply) \(/

/**
 * Hides a file's frames in the stacks that pages show: the profiler's wrappers are on all of them.
 * @param file the calling file's import.meta.filename
 */
export function hideFrames(file: string): void {
  hidden.add(file)
  // With --enable-source-maps, stacks name the source instead.
  for (const source of findSourceMap(file)?.payload.sources ?? []) hidden.add(pathOf(source))
}

export function isHidden(file: string): boolean {
  return hidden.has(file)
}

/** Removes the frames of hidden files from a stack, and the frames of Node through which they call. */
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
  return file !== undefined && isHidden(pathOf(file))
}
