import { channel } from 'node:diagnostics_channel'
import type { FastifyRequest } from 'fastify'

/** Why each check may pass a request. */
export interface Reasons {
  forwarded: 'no header' | 'headers agree' | 'untrusted sender'
  host: 'valid'
  license: 'found' | 'none' | 'too long'
  bearer: 'other scheme' | 'valid'
  firewall:
    | 'API token'
    | 'no cookie'
    | 'no route'
    | 'valid'
    | 'forged'
    | 'expired'
    | 'signed out'
    | 'password changed'
    | 'user deleted'
  validity: 'no license' | 'no route' | 'open' | 'admin' | 'public route'
  locale: 'no license' | 'query' | 'no choice' | 'cookie' | 'Accept-Language' | 'default'
  access: 'no route' | 'no license needed' | 'open license' | 'public route' | 'admin' | 'member'
  'request-checker':
    'safe method' | 'API token' | 'cookie ignored' | 'no cookie' | 'Sec-Fetch-Site' | 'Origin' | 'no browser'
  /** What the response does with the cookie. */
  'session-cookie': 'set' | 'cleared' | 'fresh' | 'failed answer'
}

export type Check = keyof Reasons

/** What refuses requests beside the checks. */
export type Limit = 'overload' | 'sign-in-address' | 'sign-in-account' | 'sign-in-passwords'

/** A check's decision about a request. Contains no secrets. */
export interface Verdict {
  request: FastifyRequest
  check: Check
  outcome: 'passed' | 'refused' | 'waiting'
  /** One of Reasons. A sentence if the request was refused, empty if the check is waiting. */
  reason: string
  /** A detail of the reason, such as the name of a group. */
  value: string
}

/** Carries each Verdict. */
export const verdicts = channel('portico:verdict')

/** A request that a check or a limit refuses. */
export interface Refusal {
  request: FastifyRequest
  by: Check | Limit
}

/** Carries each Refusal. Unlike verdicts, it costs requests that are not refused nothing. */
export const refusals = channel('portico:refusal')

/** Publishes why a check passes a request. @returns the argument for `done` */
export function passed<Name extends Check>(
  request: FastifyRequest,
  check: Name,
  reason: Reasons[Name],
  value = '',
): undefined {
  return tell(request, check, 'passed', reason, value)
}

/** Publishes why a check refuses a request. @returns the error, as the argument for `done` */
export function refused<Refusal extends Error>(request: FastifyRequest, check: Check, error: Refusal): Refusal {
  tell(request, check, 'refused', error.message)
  return error
}

/** Publishes that a check waits for the database. */
export function waiting(request: FastifyRequest, check: Check): void {
  tell(request, check, 'waiting')
}

/** Publishes a Refusal if there are subscribers. Checks use refused() instead. */
export function tellRefusal(request: FastifyRequest, by: Refusal['by']): void {
  if (refusals.hasSubscribers) refusals.publish({ request, by } satisfies Refusal)
}

/** Publishes a Verdict if there are subscribers. */
export function tell(
  request: FastifyRequest,
  check: Check,
  outcome: Verdict['outcome'],
  reason = '',
  value = '',
): undefined {
  if (outcome === 'refused') tellRefusal(request, check)
  if (verdicts.hasSubscribers) verdicts.publish({ request, check, outcome, reason, value } satisfies Verdict)
}

/** Whether a message of the channel is a Verdict. Anyone may publish on a channel. */
export function isVerdict(message: unknown): message is Verdict {
  return hasRequest(message) && 'check' in message
}

/** Whether a message of the channel is a Refusal. */
export function isRefusal(message: unknown): message is Refusal {
  return hasRequest(message) && 'by' in message
}

/** Whether a message of a channel is about a request. */
export function hasRequest(message: unknown): message is { request: FastifyRequest } {
  if (typeof message !== 'object' || message === null || !('request' in message)) return false
  return typeof message.request === 'object' && message.request !== null
}
