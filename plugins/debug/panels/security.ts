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
  /** The name of the API token that the user is known by. */
  tokenName?: string
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

/** The license has a panel of its own. */
const labels: Record<Exclude<Check, 'license' | 'session-cookie'>, string> = {
  forwarded: 'Forwarded headers',
  host: 'Host',
  bearer: 'API token',
  firewall: 'Firewall',
  locale: 'Locale',
  validity: 'Validity',
  access: 'Access',
  'request-checker': 'Request checker',
}

/** The checks that every request of a site passes through. */
const checks = ['host', 'firewall', 'locale', 'validity', 'access', 'request-checker'] as const

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
    toolbarItem: ({ user, checks, ip }) => ({
      label: 'User',
      value: user?.email ?? 'anonymous',
      tone: 'neutral',
      card: {
        title: user?.email ?? 'not signed in',
        note: `from ${ip}`,
        rows: checks.map(({ check, verdict, reason }) => [verdict, `${check}: ${reason}`, '']),
      },
    }),
    body: ({ user, firewall, ip, by, checks }) => html`${renderKeyValueTable('Client', [
      ['User', user?.email ?? html`not signed in`],
      ...(user === null
        ? []
        : [
            ['Admin', html`${user.admin ? 'yes' : 'no'}`] as const,
            ['Groups', html`${user.groups.join(', ') || 'none'}`] as const,
            ...(user.tokenName === undefined ? [] : [['API token', user.tokenName] as const]),
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
        `User: ${plain(userText(user))}. ` +
          `IP address: ${plain(ip ?? 'unknown')}${by === null ? '' : `, reported by proxy ${plain(by)}`}.`,
        `Session cookie: ${plain(cookieText(firewall))}`,
        table(
          ['Check', 'Verdict', 'Reason'],
          checks.map(({ check, verdict, reason }) => [check, verdict, plain(reason)]),
        ),
      ),
  }
}

function userText(user: UserData | null): string {
  if (user === null) return 'not signed in'
  const token = user.tokenName === undefined ? '' : `, by the API token "${user.tokenName}"`
  return `${user.email}${user.admin ? ', an admin' : ''}${token}, groups: ${user.groups.join(', ') || 'none'}`
}

function cookieText({ kind, expires, answer }: FirewallData): string {
  return `${kind === null ? '' : `${kind}, expires ${expires}. `}${answer}`
}

function userOf({ user, apiToken }: FastifyRequest): UserData | null {
  if (!user) return null
  return {
    email: user.email,
    admin: user.admin,
    ...(apiToken !== null && { tokenName: apiToken.name }),
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
  const judgements: Judgement[] = []
  for (const verdict of verdicts.values()) {
    const { check, outcome } = verdict
    if (check === 'license' || check === 'session-cookie') continue
    const isUnfinished = outcome === 'waiting'
    const reason = isUnfinished ? 'The request ended before the check did.' : sentenceOf(verdict)
    judgements.push({ check: labels[check] ?? check, verdict: isUnfinished ? 'unfinished' : outcome, reason })
  }
  const reason = judgements.length > 0 ? 'The request was interrupted earlier.' : 'No check ran.'
  for (const check of checks) {
    if (!verdicts.has(check)) judgements.push({ check: labels[check], verdict: 'not reached', reason })
  }
  return judgements
}
