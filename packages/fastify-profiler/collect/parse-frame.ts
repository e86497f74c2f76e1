import { isForeign, pathOf } from '../base/location.ts'
import { isProfilerFile } from '../base/profiler-files.ts'
import type { Frame } from '../base/profile.ts'

const frame =
  /^\s+at (?:(async )?(.+?) \()?((?:file:\/\/|node:|[A-Za-z]:[\\/]|\/).*?|node:[\w/]+|<anonymous>):(\d+):(\d+)\)?$/

/** Parses a line of a stack; null if it is no frame, or one of the profiler. */
export function parseFrame(line: string): Frame | null {
  const match = frame.exec(line)
  if (match === null) return null
  const [, , name, where = '', row = '0', column = '0'] = match
  const file = pathOf(where)
  if (isProfilerFile(file)) return null
  return { function: name ?? null, file, line: Number(row), column: Number(column), kind: kindOf(file) }
}

/** Whose code a file is. */
export function kindOf(file: string): Frame['kind'] {
  if (file.startsWith('node:') || file === '<anonymous>') return 'node'
  return isForeign(file) ? 'module' : 'own'
}
