import type { FastifyRequest } from 'fastify'
import type {} from '../../access.ts'
import type { Span } from 'fastify-profiler'

/** What one question of a check came to. */
export interface Judgement {
  check: string
  verdict: 'passed' | 'refused' | 'not over' | 'not reached'
  reason: string
}

type Verdict = Pick<Judgement, 'verdict' | 'reason'>

const questions = ['domain', 'user', 'group']

/** What the access check asked, one after the other; the first that refuses is the last that was asked. */
export function accessVerdicts(request: FastifyRequest, outcome: Span['outcome']): Judgement[] {
  const judgements = [judgeDomain(request), judgeUser(request, outcome), judgeGroup(request)]
  const last = judgements.findIndex(({ verdict }) => verdict === 'refused')
  return judgements.map(({ verdict, reason }, index) => {
    const check = `Access: ${questions[index]}`
    return last !== -1 && index > last
      ? { check, verdict: 'not reached', reason: 'The request was interrupted before.' }
      : { check, verdict, reason }
  })
}

function judgeDomain({ license, is404, domain, routeOptions }: FastifyRequest): Verdict {
  if (is404) {
    return { verdict: 'passed', reason: 'The path has no route: it is answered as such, whatever the license.' }
  }
  if (license !== null) return { verdict: 'passed', reason: `"${domain}" is the domain of "${license.name}".` }
  if (routeOptions.config.license === 'optional') {
    return { verdict: 'passed', reason: `"${domain}" has no license, and the route needs none.` }
  }
  return { verdict: 'refused', reason: `No license found for "${domain}".` }
}

function judgeUser(request: FastifyRequest, outcome: Span['outcome']): Verdict {
  const { user } = request
  const openness = opennessOf(request)
  if (openness !== null) return { verdict: 'passed', reason: openness }
  if (user === null) {
    return {
      verdict: 'refused',
      reason: outcome === 'replied' ? 'Nobody is signed in: the browser is sent to sign in.' : 'Nobody is signed in.',
    }
  }
  return { verdict: 'passed', reason: `${user.email} is signed in.` }
}

function judgeGroup(request: FastifyRequest): Verdict {
  const { license, user } = request
  const openness = opennessOf(request)
  if (openness !== null || license === null || user === null) return { verdict: 'passed', reason: String(openness) }
  if (user.admin) return { verdict: 'passed', reason: 'An admin needs no group.' }
  const group = user.groups.find(({ license_id: licenseId }) => licenseId === license.id)
  if (group === undefined) {
    return { verdict: 'refused', reason: `${user.email} belongs to none of the groups of "${license.name}".` }
  }
  return { verdict: 'passed', reason: `${user.email} belongs to "${group.name}", a group of "${license.name}".` }
}

/** Why it does not matter who asks; null where it does. */
function opennessOf({ license, is404, routeOptions }: FastifyRequest): string | null {
  if (is404 || license === null) return 'Nobody is asked to sign in.'
  if (routeOptions.config.access === 'public') return 'The route answers everybody, whatever the license.'
  return license.protected ? null : `"${license.name}" is open to everybody.`
}
