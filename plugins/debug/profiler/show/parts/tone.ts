import { STATUS_CODES } from 'node:http'
import type { Tone } from '../../collect/panel.ts'
import type { Outcome } from '../../base/profile.ts'

/** The tone of an HTTP status; null is a request that never got one (one side went away). */
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

/** What an outcome other than the ordinary one means, in a few words; null for the ordinary one. */
export function outcomeText(outcome: Outcome): string | null {
  if (outcome === 'aborted') return 'The client left'
  if (outcome === 'broken') return 'The server broke off'
  if (outcome === 'hijacked') return 'Answered past Fastify'
  if (outcome === 'upgraded') return 'Switched to another protocol'
  if (outcome === 'unfinished') return 'The process closed first'
  return null
}

/** The tone of such an outcome: an error where it is the server's fault. */
export function outcomeTone(outcome: Outcome): Tone {
  if (outcome === 'upgraded') return 'neutral'
  return outcome === 'broken' ? 'error' : 'warning'
}

/** The tone of a pino level by its number. */
export function levelTone(level: number): Tone {
  if (level >= 50) return 'error'
  if (level >= 40) return 'warning'
  return 'neutral'
}

/** The levels pino names, in order. */
export const levelNames = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const

/** The name of a pino level by its number; one of an application's own has the name of the nearest below. */
export function levelName(level: number): (typeof levelNames)[number] {
  if (level >= 60) return 'fatal'
  if (level >= 50) return 'error'
  if (level >= 40) return 'warn'
  if (level >= 30) return 'info'
  if (level >= 20) return 'debug'
  return 'trace'
}
