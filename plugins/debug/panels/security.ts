import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Authentication, sessionCookie } from '../../firewall.ts'
import { languageRanges, lookupLanguage } from '../../../src/http/negotiation.ts'
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
  type Profile,
  type Span,
  type Tone,
} from 'fastify-profiler'
import { accessVerdicts, type Judgement } from './access-verdicts.ts'

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

/** What the firewall made of the session's cookie, of which nothing is shown that would get anybody in. */
interface FirewallData {
  /** What the firewall found. */
  finding: string
  /** Which of the two kinds, and until when; null where nothing of it can be believed. */
  kind: "for the browser's session" | 'remembered' | null
  expires: string | null
  /** What the answer does with it. */
  answer: string
}

interface Check {
  check: string
  /** The name of its hook. */
  hook: string
  /** Why a request passed; of a check that asks several questions, what each of them came to, also where it did not. */
  explain:
    { passed: (request: FastifyRequest, reply: FastifyReply | null) => string } | { questions: typeof accessVerdicts }
}

/** The checks in their order. */
const checks: readonly Check[] = [
  { check: 'Forwarded headers', hook: 'readForwarded', explain: { passed: whyForwardedPassed } },
  { check: 'Host', hook: 'validateHost', explain: { passed: ({ domain }) => `"${domain}" is a valid host.` } },
  { check: 'Firewall', hook: 'examineCookie', explain: { passed: whyFirewallPassed } },
  { check: 'Locale', hook: 'chooseLocale', explain: { passed: whyLocale } },
  { check: 'Access', hook: 'checkAccess', explain: { questions: accessVerdicts } },
  { check: 'Request checker', hook: 'checkRequest', explain: { passed: whyRequestPassed } },
]

const tones: Record<Judgement['verdict'], Tone> = {
  passed: 'good',
  refused: 'error',
  'not over': 'warning',
  'not reached': 'neutral',
}

/** Who asked, and what each check said of it. */
export const securityPanel: Panel<SecurityData> = {
  name: 'security',
  label: 'Security',
  collect({ request, reply, recorder, profile }) {
    if (request === null) return null
    const { ip } = profile
    return {
      user: userOf(request),
      firewall: firewallOf(request, reply),
      ip,
      by: ip === recorder.remoteAddress ? null : recorder.remoteAddress,
      checks: checks.flatMap(check => verdictOf(check, request, reply, profile)),
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
    ['The firewall', html`${firewall.finding}`],
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
      `Session cookie: ${plain(`${firewall.finding}${firewall.kind === null ? '' : ` It is ${firewall.kind}, and expires at ${firewall.expires}.`} ${firewall.answer}`)}`,
      table(
        ['Check', 'Verdict', 'Reason'],
        checks.map(({ check, verdict, reason }) => [check, verdict, plain(reason)]),
      ),
    ),
}

function userOf({ user }: FastifyRequest): UserData | null {
  if (!user) return null
  return {
    email: user.email,
    admin: user.admin,
    groups: user.groups.map(group => `${group.name} of license ${group.license_id}`),
  }
}

const findings: Record<Authentication['finding'], string> = {
  valid: 'It holds.',
  forged: 'It is not one that this server signed for this site.',
  expired: 'It is out of date.',
  'signed out': 'Its session was ended by signing out.',
  'password changed': 'The password was changed since.',
  'user deleted': 'Its user is gone.',
}

function firewallOf(request: FastifyRequest, reply: FastifyReply | null): FirewallData {
  const { authentication } = request
  const token = authentication?.token ?? null
  return {
    finding: authentication ? findings[authentication.finding] : whyNotExamined(request),
    kind: token && (token.remembered ? 'remembered' : "for the browser's session"),
    expires: token && new Date(token.expires).toISOString(),
    answer: answerOf(request, reply),
  }
}

function whyNotExamined(request: FastifyRequest): string {
  if (request.headers.cookie === undefined || !request.headers.cookie.includes(sessionCookie(request))) {
    return 'The request carries none.'
  }
  return 'Nobody asked whose it is.'
}

/** What the remember-me hook, or signing in or out, did with the cookie. */
function answerOf(request: FastifyRequest, reply: FastifyReply | null): string {
  const name = `${sessionCookie(request)}=`
  const line = [reply?.getHeader('set-cookie')]
    .flat()
    .map(String)
    .find(cookie => cookie.startsWith(name))
  if (line !== undefined) return line.startsWith(`${name};`) ? 'The answer clears it.' : 'The answer sets it anew.'
  return request.authentication?.finding === 'valid'
    ? 'The answer leaves it: it is renewed past half its life, by an answer that is no error.'
    : 'The answer leaves it alone.'
}

/** A check that the application does not have says nothing. */
function verdictOf(
  { check, hook, explain }: Check,
  request: FastifyRequest,
  reply: FastifyReply | null,
  profile: Profile,
): Judgement[] {
  const { spans } = profile
  const id = spans.findIndex(({ name }) => name === hook)
  const span = spans[id]
  if (span === undefined) {
    return hook === 'readForwarded' ? [] : [{ check, verdict: 'not reached', reason: whyNotReached(spans) }]
  }
  if (span.outcome === 'unfinished') {
    return [{ check, verdict: 'not over', reason: 'The request was over before the check was.' }]
  }
  if ('questions' in explain) return explain.questions(request, span.outcome)
  if (span.outcome === 'continued') return [{ check, verdict: 'passed', reason: explain.passed(request, reply) }]
  return [{ check, verdict: 'refused', reason: messageOf(id, profile) }]
}

function whyNotReached(spans: readonly Span[]): string {
  return spans.some(({ hook }) => hook === 'onRequest')
    ? 'The request was interrupted before.'
    : 'The request failed before any check.'
}

function messageOf(span: number, { lifecycle, exceptions }: Profile): string {
  const interruption = lifecycle.find(({ interrupted }) => interrupted?.span === span)?.interrupted
  return exceptions[interruption?.exception ?? -1]?.message ?? 'It answered the request itself.'
}

function whyForwardedPassed({ headers }: FastifyRequest): string {
  return headers.forwarded === undefined
    ? 'The request has no Forwarded header.'
    : "The Forwarded header agrees with the others, or is nobody's who is trusted."
}

function whyLocale(request: FastifyRequest, reply: FastifyReply | null): string {
  const { locale, license, query, cookies, headers } = request
  if (license === null) return `${locale}, the default: there is no license with languages of its own.`
  const means = (range: unknown) => typeof range === 'string' && lookupLanguage([locale], [range]) !== undefined
  const inQuery = typeof query === 'object' && query !== null && '_locale' in query ? query._locale : undefined
  if (means(inQuery)) return `${locale}, by _locale "${String(inQuery)}" of the query.`
  if (!/accept-language/i.test(String(reply?.getHeader('vary')))) return `${locale}: the license leaves no choice.`
  if (means(cookies['locale'])) return `${locale}, by the locale cookie.`
  if (lookupLanguage([locale], languageRanges(headers['accept-language'])) !== undefined) {
    return `${locale}, by Accept-Language "${String(headers['accept-language'])}".`
  }
  return `${locale}, the license's default: the request asks for none of its languages.`
}

function whyFirewallPassed({ user, authentication }: FastifyRequest): string {
  if (user !== null) return `The session cookie is that of ${user.email}.`
  return authentication === null
    ? 'Nobody says who they are.'
    : `The session cookie is nobody's. ${findings[authentication.finding]}`
}

function whyRequestPassed({ method, headers, routeOptions }: FastifyRequest): string {
  if (['GET', 'HEAD', 'OPTIONS', 'TRACE'].includes(method)) return `${method} changes nothing.`
  if (headers.cookie === undefined && routeOptions.config.crossSite !== 'refused') {
    return "Without a cookie it acts in nobody's name."
  }
  if (headers['sec-fetch-site'] !== undefined) {
    return `Sec-Fetch-Site "${String(headers['sec-fetch-site'])}": it comes from this site.`
  }
  return headers.origin === undefined
    ? "It carries neither Sec-Fetch-Site nor Origin: it is no browser's."
    : `Origin "${headers.origin}" is this site.`
}
