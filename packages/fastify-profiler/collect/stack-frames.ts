import type { Frame } from '../base/profile.ts'
import { KnownFrames } from './known-frames.ts'

const longestLine = 1000

const known = new KnownFrames()

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
    const frame = candidate.length > longestLine ? null : known.frameIn(candidate)
    if (frame === null) continue
    if (frames.length >= limit) dropped++
    else frames.push({ ...frame })
  }
  return { frames, dropped }
}
