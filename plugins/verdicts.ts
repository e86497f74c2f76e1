import { channel } from 'node:diagnostics_channel'
import type { FastifyRequest } from 'fastify'

/** What each check may find where it lets a request pass. */
export interface Reasons {
  forwarded: 'no header' | 'headers agree' | 'untrusted sender'
  host: 'valid'
  firewall:
    'no cookie' | 'no route' | 'valid' | 'forged' | 'expired' | 'signed out' | 'password changed' | 'user deleted'
  locale: 'no license' | 'query' | 'no choice' | 'cookie' | 'Accept-Language' | 'default'
  access: 'no route' | 'no license needed' | 'open license' | 'public route' | 'admin' | 'member'
  'request-checker': 'safe method' | 'no cookie' | 'Sec-Fetch-Site' | 'Origin' | 'no browser'
  /** What becomes of it with the answer. */
  'session-cookie': 'set' | 'cleared' | 'fresh' | 'failed answer'
}

export type Check = keyof Reasons

/** What a check made of a request, told where it decides that. It holds no secret. */
export interface Verdict {
  request: FastifyRequest
  check: Check
  outcome: 'passed' | 'refused' | 'waiting'
  /** One of Reasons; a sentence where the request was refused. */
  reason: string
  /** What the reason is about, where the request itself does not say. */
  value: string
}

/** Carries a Verdict from whoever decides to whoever listens. */
export const verdicts = channel('portico:verdict')

/** Tells why a check lets a request pass. @returns what its hook is done with: no error */
export function passed<Name extends Check>(
  request: FastifyRequest,
  check: Name,
  reason: Reasons[Name],
  value = '',
): undefined {
  return tell(request, check, 'passed', reason, value)
}

/** Tells why a check refuses a request. @returns what its hook is done with: the error */
export function refused<Refusal extends Error>(request: FastifyRequest, check: Check, error: Refusal): Refusal {
  tell(request, check, 'refused', error.message)
  return error
}

/** Tells that a check waits for the database. */
export function waiting(request: FastifyRequest, check: Check): void {
  tell(request, check, 'waiting')
}

/** Makes nothing while nobody listens. */
export function tell(
  request: FastifyRequest,
  check: Check,
  outcome: Verdict['outcome'],
  reason = '',
  value = '',
): undefined {
  if (verdicts.hasSubscribers) verdicts.publish({ request, check, outcome, reason, value } satisfies Verdict)
}

/** Whether a message of the channel, which anybody may publish on, is a verdict. */
export function isVerdict(message: unknown): message is Verdict {
  return typeof message === 'object' && message !== null && 'request' in message && 'check' in message
}
