import { toMicroseconds } from '../base/microseconds.ts'
import type { Json, LogLine } from '../base/profile.ts'
import type { Mask } from '../mask/mask.ts'
import type { RecordedLine } from '../watch/recorder.ts'

/** Fields that are stored elsewhere in the profile, and `__proto__`, which would set the prototype. */
const ownFields = new Set(['level', 'time', 'pid', 'hostname', 'msg', '__proto__'])

export function describeLogLine({ start, line, location }: RecordedLine, mask: Mask): LogLine {
  const parsed = parseLine(line)
  const { level, msg } = parsed
  const fields: Record<string, Json> = {}
  for (const name of Object.keys(parsed)) {
    if (!ownFields.has(name)) fields[mask.text(name)] = mask.value(parsed[name], name)
  }
  return {
    level: typeof level === 'number' ? level : 30,
    start: toMicroseconds(start),
    message: typeof msg === 'string' ? mask.text(msg) : '',
    fields,
    ...(location !== null && { location }),
  }
}

function parseLine(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line)
    return isRecord(value) ? value : { msg: line }
  } catch {
    return { msg: line }
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
