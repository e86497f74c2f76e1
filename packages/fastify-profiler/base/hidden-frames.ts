import { isProfilerFile } from './profiler-files.ts'
import { pathOf } from './location.ts'

const longestLine = 1000
const frame = /^[ \t]+at (?:.* \()?(\S+):\d+:\d+\)?$/
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
