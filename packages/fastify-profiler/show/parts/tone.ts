import { STATUS_CODES } from 'node:http'
import type { Tone } from '../../collect/panel.ts'
import type { Outcome } from '../../base/profile.ts'

/** The tone of an HTTP status; null is a request without a response. */
export function statusTone(status: number | null): Tone {
  if (status === null) return 'warning'
  if (status >= 500) return 'error'
  if (status >= 400) return 'warning'
  if (status >= 300) return 'neutral'
  return 'good'
}

/** A status with its reason phrase: 404 Not Found. */
export function statusText(status: number | null): string {
  if (status === null) return 'No response'
  const phrase = STATUS_CODES[status]
  return phrase === undefined ? String(status) : `${status} ${phrase}`
}

/** An unusual outcome in a few words; null for a completed request. */
export function outcomeText(outcome: Outcome): string | null {
  if (outcome === 'aborted') return 'Client went away'
  if (outcome === 'broken') return 'Response cut off by the server'
  if (outcome === 'hijacked') return 'Answered outside Fastify'
  if (outcome === 'upgraded') return 'Upgraded to another protocol'
  if (outcome === 'unfinished') return 'Server shut down first'
  return null
}

/** The tone of an outcome: an error if the server is at fault. */
export function outcomeTone(outcome: Outcome): Tone {
  if (outcome === 'upgraded') return 'neutral'
  return outcome === 'broken' ? 'error' : 'warning'
}

/** The tone of a pino level. */
export function levelTone(level: number): Tone {
  if (level >= 50) return 'error'
  if (level >= 40) return 'warning'
  return 'neutral'
}

/** Pino's named levels, lowest first. */
export const levelNames = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const

/** The name of a pino level; a custom level has the name of the nearest one below. */
export function levelName(level: number): (typeof levelNames)[number] {
  if (level >= 60) return 'fatal'
  if (level >= 50) return 'error'
  if (level >= 40) return 'warn'
  if (level >= 30) return 'info'
  if (level >= 20) return 'debug'
  return 'trace'
}
