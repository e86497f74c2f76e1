import { isForeign, pathOf } from '../base/call-site.ts'
import { isHidden } from '../base/hidden-frames.ts'
import type { Frame } from '../base/profile.ts'

const line =
  /^\s+at (?:(async )?(.+?) \()?((?:file:\/\/|node:|[A-Za-z]:[\\/]|\/).*?|node:[\w/]+|<anonymous>):(\d+):(\d+)\)?$/

const longestLine = 1000

/**
 * Parses the frames of an error's stack. The message is removed first, since lines in it could look like frames and
 * make the profiler read any file.
 */
export function parseStack(stack: string, message: string, limit: number): { frames: Frame[]; dropped: number } {
  const after = stack.indexOf(message)
  const text = after === -1 ? stack : stack.slice(after + message.length)
  const frames: Frame[] = []
  let dropped = 0
  for (const candidate of text.split('\n')) {
    // Frames are shorter, and the pattern is slow on long lines.
    const match = candidate.length > longestLine ? null : line.exec(candidate)
    if (match === null) continue
    const [, , name, where = '', row = '0', column = '0'] = match
    const file = pathOf(where)
    if (isHidden(file)) continue
    if (frames.length >= limit) {
      dropped++
      continue
    }
    frames.push({ function: name ?? null, file, line: Number(row), column: Number(column), kind: kindOf(file) })
  }
  return { frames, dropped }
}

function kindOf(file: string): Frame['kind'] {
  if (file.startsWith('node:') || file === '<anonymous>') return 'node'
  return isForeign(file) ? 'module' : 'own'
}
