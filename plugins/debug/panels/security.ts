import type { FastifyRequest } from 'fastify'
import type {} from '../../firewall.ts'
import type { Verdict } from '../../checks.ts'
import type { Inline, Panel, Tone } from 'fastify-profiler'
import type { VerdictLog } from '../verdict-log.ts'

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

const tones: Record<Judgement['verdict'], Tone> = {
  passed: 'good',
  refused: 'error',
  unfinished: 'warning',
  'not reached': 'neutral',
}

/**
 * The client, and the verdict of each check.
 * @param labelsOf the names of the checks with their labels, in order
 */
export function securityPanel(log: VerdictLog, labelsOf: () => ReadonlyMap<string, string>): Panel<SecurityData> {
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
        checks: judgementsOf(verdicts, labelsOf()),
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
    view: ({ user, firewall, ip, by, checks }) => [
      {
        title: 'Client',
        pairs: [
          ...userPairs(user),
          ['IP address', { value: ip }],
          ...(by === null ? [] : [['Reported by proxy', { value: by }] as const]),
        ],
      },
      { section: 'Session cookie', blocks: [{ title: 'Session cookie', pairs: cookiePairs(firewall) }] },
      {
        section: 'Checks',
        blocks: [
          {
            title: 'Checks',
            columns: [{ label: 'Check', kind: 'short' }, { label: 'Verdict', kind: 'short' }, { label: 'Reason' }],
            rows: checks.map(({ check, verdict, reason }) => [check, { badge: verdict, tone: tones[verdict] }, reason]),
          },
        ],
      },
    ],
  }
}

type Pairs = ReadonlyArray<readonly [name: string, value: Inline]>

function userPairs(user: UserData | null): Pairs {
  if (user === null) return [['User', 'not signed in']]
  return [
    ['User', { value: user.email }],
    ['Admin', user.admin ? 'yes' : 'no'],
    ['Groups', user.groups.join(', ') || 'none'],
    ...(user.tokenName === undefined ? [] : [['API token', { value: user.tokenName }] as const]),
  ]
}

function cookiePairs({ answer, expires, kind }: FirewallData): Pairs {
  const valid: Pairs =
    kind === null
      ? []
      : [
          ['Kind', kind],
          ['Expires', { value: expires }],
        ]
  return [...valid, ['Response', answer]]
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
    answer: fate === undefined ? 'The response leaves it unchanged.' : fate.reason,
  }
}

/** The checks that said something, then those that come after them. The license has a panel of its own. */
function judgementsOf(verdicts: Verdicts, labels: ReadonlyMap<string, string>): Judgement[] {
  const judgements: Judgement[] = []
  let unreached = [...labels]
  for (const { check, outcome, reason } of verdicts.values()) {
    unreached = unreached.slice(unreached.findIndex(([name]) => name === check) + 1)
    if (check === 'license' || check === 'session-cookie') continue
    const label = labels.get(check) ?? check
    judgements.push(
      outcome === 'waiting'
        ? { check: label, verdict: 'unfinished', reason: 'The request ended before the check did.' }
        : { check: label, verdict: outcome, reason },
    )
  }
  const reason = judgements.length > 0 ? 'The request was interrupted earlier.' : 'No check ran.'
  for (const [name, label] of unreached) {
    if (name !== 'license') judgements.push({ check: label, verdict: 'not reached', reason })
  }
  return judgements
}
