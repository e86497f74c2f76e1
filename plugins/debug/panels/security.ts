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
  /** Null: nobody is signed in. */
  user: UserData | null
  firewall: FirewallData
  ip: string | null
  /** The proxy that named the address; null where the client is connected itself. */
  by: string | null
  checks: Judgement[]
}

interface UserData {
  email: string
  admin: boolean
  /** "Staff of license 1" */
  groups: string[]
}

/** The session's cookie, of which nothing is shown that would get anybody in. */
interface FirewallData {
  /** Which of the two kinds, and until when; null where nothing of it can be believed. */
  kind: "for the browser's session" | 'remembered' | null
  expires: string | null
  /** What the answer does with it. */
  answer: string
}

/** What one check came to. */
interface Judgement {
  check: string
  verdict: 'passed' | 'refused' | 'not over' | 'not reached'
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

/** The checks that every request of a site comes to, if none refuses it. */
const checks = ['host', 'firewall', 'locale', 'access', 'request-checker'] as const

const tones: Record<Judgement['verdict'], Tone> = {
  passed: 'good',
  refused: 'error',
  'not over': 'warning',
  'not reached': 'neutral',
}

/** Who asked, and what each check said of it. */
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
    toolbarItem: ({ user }) => ({ label: 'User', value: user?.email ?? 'nobody', tone: 'neutral' }),
    body: ({ user, firewall, ip, by, checks }) => html`${renderKeyValueTable('Who', [
      ['User', user?.email ?? html`nobody is signed in`],
      ...(user === null
        ? []
        : [
            ['Admin', html`${user.admin ? 'yes' : 'no'}`] as const,
            ['Groups', html`${user.groups.join(', ') || 'none'}`] as const,
          ]),
      ['Address', ip],
      ...(by === null ? [] : [['As told by', by] as const]),
    ])}
${renderSection(
  'Session cookie',
  renderKeyValueTable('Session cookie', [
    ...(firewall.kind === null
      ? []
      : [['Kind', html`${firewall.kind}`] as const, ['Expires', firewall.expires] as const]),
    ['The answer', html`${firewall.answer}`],
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
        `User: ${plain(user === null ? 'nobody is signed in' : `${user.email}${user.admin ? ', an admin' : ''}, groups: ${user.groups.join(', ') || 'none'}`)}. Address: ${plain(String(ip))}${by === null ? '' : `, as told by ${plain(by)}`}.`,
        `Session cookie: ${plain(`${firewall.kind === null ? '' : `It is ${firewall.kind}, and expires at ${firewall.expires}. `}${firewall.answer}`)}`,
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
    kind: token && (token.remembered ? 'remembered' : "for the browser's session"),
    expires: token && new Date(token.expires).toISOString(),
    answer: fate === undefined ? 'The answer leaves it alone.' : sentenceOf(fate),
  }
}

/** What the checks told, and then those that told nothing. */
function judgementsOf(verdicts: Verdicts): Judgement[] {
  const told = [...verdicts.values()].flatMap(verdict => judgementOf(verdict))
  const reason = told.length > 0 ? 'The request was interrupted before.' : 'No check saw the request.'
  const others = checks.filter(check => !verdicts.has(check))
  return [...told, ...others.map(check => ({ check: labels[check], verdict: 'not reached' as const, reason }))]
}

function judgementOf(verdict: Verdict): Judgement[] {
  const { check, outcome } = verdict
  if (check === 'session-cookie') return []
  if (outcome === 'waiting') {
    return [{ check: labels[check], verdict: 'not over', reason: 'The request was over before the check was.' }]
  }
  return [{ check: labels[check], verdict: outcome, reason: sentenceOf(verdict) }]
}
