import type { FastifyRequest } from 'fastify'
import type {} from '../../firewall.ts'
import type { Check, Verdict } from '../../verdicts.ts'
import {
  blocks,
  html,
  plain,
  renderBadge,
  renderDataTable,
  renderKeyValueTable,
  renderSection,
  table,
  type Panel,
  type Tone,
} from 'fastify-profiler'
import type { VerdictLog } from '../verdict-log.ts'
import { sentenceOf } from './verdict-sentences.ts'

export interface SecurityData {
  /** Null if the client is not signed in. */
  user: UserData | null
  firewall: FirewallData
  ip: string | null
  /** The proxy that reported the address; null if the client is connected directly. */
  by: string | null
  checks: Judgement[]
}

interface UserData {
  email: string
  admin: boolean
  /** "Staff of license 1" */
  groups: string[]
}

/** The session cookie, without anything that would let a reader sign in. */
interface FirewallData {
  /** Its kind and expiry; null unless the signature is valid. */
  kind: 'browser session' | 'remember me' | null
  expires: string | null
  /** What the response does with the cookie. */
  answer: string
}

/** The result of one check. */
interface Judgement {
  check: string
  verdict: 'passed' | 'refused' | 'unfinished' | 'not reached'
  reason: string
}

const labels: Record<Exclude<Check, 'session-cookie'>, string> = {
  forwarded: 'Forwarded headers',
  host: 'Host',
  firewall: 'Firewall',
  locale: 'Locale',
  access: 'Access',
  'request-checker': 'Request checker',
}

/** The checks that every request of a site passes through. */
const checks = ['host', 'firewall', 'locale', 'access', 'request-checker'] as const

const tones: Record<Judgement['verdict'], Tone> = {
  passed: 'good',
  refused: 'error',
  unfinished: 'warning',
  'not reached': 'neutral',
}

/** The client, and the verdict of each check. */
export function securityPanel(log: VerdictLog): Panel<SecurityData> {
  return {
    name: 'security',
    label: 'Security',
    collect({ request, recorder, profile }) {
      if (request === null) return null
      const { ip } = profile
      const verdicts = log.of(recorder)
      return {
        user: userOf(request),
        firewall: firewallOf(request, verdicts),
        ip,
        by: ip === recorder.remoteAddress ? null : recorder.remoteAddress,
        checks: judgementsOf(verdicts),
      }
    },
    badge: ({ checks }) =>
      checks.some(({ verdict }) => verdict === 'refused') ? { text: 'refused', tone: 'error' } : null,
    toolbarItem: ({ user }) => ({ label: 'User', value: user?.email ?? 'anonymous', tone: 'neutral' }),
    body: ({ user, firewall, ip, by, checks }) => html`${renderKeyValueTable('Client', [
      ['User', user?.email ?? html`not signed in`],
      ...(user === null
        ? []
        : [
            ['Admin', html`${user.admin ? 'yes' : 'no'}`] as const,
            ['Groups', html`${user.groups.join(', ') || 'none'}`] as const,
          ]),
      ['IP address', ip],
      ...(by === null ? [] : [['Reported by proxy', by] as const]),
    ])}
${renderSection(
  'Session cookie',
  renderKeyValueTable('Session cookie', [
    ...(firewall.kind === null
      ? []
      : [['Kind', html`${firewall.kind}`] as const, ['Expires', firewall.expires] as const]),
    ['Response', html`${firewall.answer}`],
  ]),
)}
${renderSection(
  'Checks',
  renderDataTable(
    'Checks',
    [{ label: 'Check', kind: 'short' }, { label: 'Verdict', kind: 'short' }, { label: 'Reason' }],
    checks.map(({ check, verdict, reason }) => ({
      cells: [check, renderBadge(verdict, tones[verdict]), reason],
    })),
  ),
)}`,
    markdown: ({ user, firewall, ip, by, checks }) =>
      blocks(
        `User: ${plain(user === null ? 'not signed in' : `${user.email}${user.admin ? ', an admin' : ''}, groups: ${user.groups.join(', ') || 'none'}`)}. IP address: ${plain(String(ip))}${by === null ? '' : `, reported by proxy ${plain(by)}`}.`,
        `Session cookie: ${plain(`${firewall.kind === null ? '' : `${firewall.kind}, expires ${firewall.expires}. `}${firewall.answer}`)}`,
        table(
          ['Check', 'Verdict', 'Reason'],
          checks.map(({ check, verdict, reason }) => [check, verdict, plain(reason)]),
        ),
      ),
  }
}

function userOf({ user }: FastifyRequest): UserData | null {
  if (!user) return null
  return {
    email: user.email,
    admin: user.admin,
    groups: user.groups.map(group => `${group.name} of license ${group.license_id}`),
  }
}

type Verdicts = ReadonlyMap<string, Verdict>

function firewallOf({ authentication }: FastifyRequest, verdicts: Verdicts): FirewallData {
  const token = authentication?.token ?? null
  const fate = verdicts.get('session-cookie')
  return {
    kind: token && (token.remembered ? 'remember me' : 'browser session'),
    expires: token && new Date(token.expires).toISOString(),
    answer: fate === undefined ? 'The response leaves it unchanged.' : sentenceOf(fate),
  }
}

/** The checks that ran, then those that did not. */
function judgementsOf(verdicts: Verdicts): Judgement[] {
  const told = [...verdicts.values()].flatMap(verdict => judgementOf(verdict))
  const reason = told.length > 0 ? 'The request was interrupted earlier.' : 'No check ran.'
  const others = checks.filter(check => !verdicts.has(check))
  return [...told, ...others.map(check => ({ check: labels[check], verdict: 'not reached' as const, reason }))]
}

function judgementOf(verdict: Verdict): Judgement[] {
  const { check, outcome } = verdict
  if (check === 'session-cookie') return []
  if (outcome === 'waiting') {
    return [{ check: labels[check], verdict: 'unfinished', reason: 'The request ended before the check did.' }]
  }
  return [{ check: labels[check], verdict: outcome, reason: sentenceOf(verdict) }]
}
