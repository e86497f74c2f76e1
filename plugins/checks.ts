import { channel } from 'node:diagnostics_channel'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { whenRead } from '../src/cache/entity-cache.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The names of the checks with their labels for people, in the order in which requests pass. */
    checks: Map<string, string>
  }
}

/** Adds app.checks, to which each check adds itself: the profiler lists them, and metrics count what they refuse. */
async function checks(app: FastifyInstance) {
  app.decorate('checks', new Map<string, string>())
}

/** What refuses requests beside the checks. */
export const limitNames = ['overload', 'sign-in-address', 'sign-in-account', 'sign-in-passwords'] as const

export type Limit = (typeof limitNames)[number]

/** Why a check passes a request. A function is called only if somebody listens. */
export type Sentence = string | ((request: FastifyRequest) => string)

/** A check's decision about a request. Contains no secrets. */
export interface Verdict {
  request: FastifyRequest
  check: string
  outcome: 'passed' | 'refused' | 'waiting'
  /** A sentence. Empty if the check is waiting. */
  reason: string
}

export const verdicts = channel('portico:verdict')

/** A request that a check or a limit refuses. */
export interface Refusal {
  request: FastifyRequest
  /** The name of the check or limit. */
  by: string
}

/** Carries each Refusal. Unlike verdicts, it costs nothing for requests that pass. */
export const refusals = channel('portico:refusal')

/** Publishes why a check passes a request. @returns the argument for `done` */
export function passed(request: FastifyRequest, check: string, reason: Sentence): undefined {
  return tell(request, check, 'passed', reason)
}

/** Publishes why a check refuses a request. @returns the error, as the argument for `done` */
export function refused<Refusal extends Error>(request: FastifyRequest, check: string, error: Refusal): Refusal {
  tell(request, check, 'refused', error.message)
  return error
}

/**
 * Passes what a check reads to `use`, at once if it is cached. If it cannot be read, the check refuses the request, but
 * for an unmatched path, which gets a 404 or 405 whatever the license.
 */
export function checkWith<Value>(
  request: FastifyRequest,
  check: string,
  value: Value | Promise<Value>,
  done: (error?: Error) => void,
  use: (value: Value) => void,
): void {
  tell(request, check, 'waiting', '')
  whenRead(value, use, error => done(request.is404 ? passed(request, check, unread) : refused(request, check, error)))
}

/** The verdict of a check that could not read what it needs, for a path that gets the same answer whatever it says. */
export const unread = 'The database could not be read, which does not matter: the path has no route.'

/** Publishes a Refusal if there are subscribers. Checks use refused() instead. */
export function tellRefusal(request: FastifyRequest, by: string): void {
  if (refusals.hasSubscribers) refusals.publish({ request, by } satisfies Refusal)
}

export function tell(request: FastifyRequest, check: string, outcome: Verdict['outcome'], reason: Sentence): undefined {
  if (outcome === 'refused') tellRefusal(request, check)
  if (!verdicts.hasSubscribers) return
  const sentence = typeof reason === 'string' ? reason : reason(request)
  verdicts.publish({ request, check, outcome, reason: sentence } satisfies Verdict)
}

/** Whether a message of the channel is a Verdict. Anyone may publish on a channel. */
export function isVerdict(message: unknown): message is Verdict {
  return hasRequest(message) && 'check' in message
}

export function isRefusal(message: unknown): message is Refusal {
  return hasRequest(message) && 'by' in message
}

export function hasRequest(message: unknown): message is { request: FastifyRequest } {
  if (typeof message !== 'object' || message === null || !('request' in message)) return false
  return typeof message.request === 'object' && message.request !== null
}

export default fp(checks, { name: 'checks', fastify: '5.x' })
