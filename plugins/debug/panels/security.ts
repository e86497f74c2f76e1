import type { FastifyReply, FastifyRequest } from 'fastify'
import { lookupLanguage, negotiateLanguage } from '../../../src/negotiation.ts'
import { blocks, html, plain, renderBadge, renderDataTable, renderKeyValueTable, renderSection, table, type Panel, type Profile, type Span, type Tone } from '../profiler/index.ts'

type Verdict = 'passed' | 'refused' | 'not over' | 'not reached'

interface CheckData {
  check: string
  verdict: Verdict
  reason: string
}

export interface SecurityData {
  /** Null: nobody is signed in. */
  user: string | null
  ip: string | null
  /** The proxy that named the address; null where the client is connected itself. */
  by: string | null
  checks: CheckData[]
}

interface Check {
  check: string
  /** The name of its hook. */
  hook: string
  /** Why a request passed. */
  passed: (request: FastifyRequest, reply: FastifyReply | null) => string
}

/** The checks in their order. */
const checks: readonly Check[] = [
  { check: 'Forwarded headers', hook: 'readForwarded', passed: whyForwardedPassed },
  { check: 'Host', hook: 'validateHost', passed: ({ domain }) => `"${domain}" is a valid host.` },
  { check: 'Locale', hook: 'chooseLocale', passed: whyLocale },
  { check: 'Access', hook: 'checkAccess', passed: whyAccess },
  { check: 'Request checker', hook: 'checkRequest', passed: whyRequestPassed }
]

const tones: Record<Verdict, Tone> = { passed: 'good', refused: 'error', 'not over': 'warning', 'not reached': 'neutral' }

/** Who asked, and what each check said of it. */
export const securityPanel: Panel<SecurityData> = {
  name: 'security',
  label: 'Security',
  collect ({ request, reply, recorder, profile }) {
    if (request === null) return null
    const { ip } = profile
    return {
      user: null,
      ip,
      by: ip === recorder.remoteAddress ? null : recorder.remoteAddress,
      checks: checks.flatMap(check => verdictOf(check, request, reply, profile))
    }
  },
  badge: ({ checks }) => checks.some(({ verdict }) => verdict === 'refused') ? { text: 'refused', tone: 'error' } : null,
  toolbarItem: ({ user }) => ({ label: 'User', value: user ?? 'nobody', tone: 'neutral' }),
  body: ({ user, ip, by, checks }) => html`${renderKeyValueTable('Who', [
    ['User', user ?? html`nobody is signed in`],
    ['Address', ip],
    ...(by === null ? [] : [['As told by', by] as const])
  ])}
${renderSection('Checks', renderDataTable('Checks', [{ label: 'Check', kind: 'short' }, { label: 'Verdict', kind: 'short' }, { label: 'Reason' }], checks.map(({ check, verdict, reason }) => ({
  cells: [check, renderBadge(verdict, tones[verdict]), reason]
}))))}`,
  markdown: ({ user, ip, by, checks }) => blocks(
    `User: ${plain(user ?? 'nobody is signed in')}. Address: ${plain(String(ip))}${by === null ? '' : `, as told by ${plain(by)}`}.`,
    table(['Check', 'Verdict', 'Reason'], checks.map(({ check, verdict, reason }) => [check, verdict, plain(reason)]))
  )
}

/** A check that the application does not have says nothing. */
function verdictOf ({ hook, check, passed }: Check, request: FastifyRequest, reply: FastifyReply | null, profile: Profile): CheckData[] {
  const { spans } = profile
  const id = spans.findIndex(({ name }) => name === hook)
  const span = spans[id]
  if (span === undefined) return hook === 'readForwarded' ? [] : [{ check, verdict: 'not reached', reason: whyNotReached(spans) }]
  switch (span.outcome) {
    case 'continued': return [{ check, verdict: 'passed', reason: passed(request, reply) }]
    case 'unfinished': return [{ check, verdict: 'not over', reason: 'The request was over before the check was.' }]
    case 'replied':
    case 'threw': return [{ check, verdict: 'refused', reason: messageOf(id, profile) }]
  }
}

function whyNotReached (spans: readonly Span[]): string {
  return spans.some(({ hook }) => hook === 'onRequest') ? 'The request was interrupted before.' : 'The request failed before any check.'
}

function messageOf (span: number, { lifecycle, exceptions }: Profile): string {
  const interruption = lifecycle.find(({ interrupted }) => interrupted?.span === span)?.interrupted
  return exceptions[interruption?.exception ?? -1]?.message ?? 'It answered the request itself.'
}

function whyForwardedPassed ({ headers }: FastifyRequest): string {
  return headers.forwarded === undefined ? 'The request has no Forwarded header.' : 'The Forwarded header agrees with the others, or is nobody\'s who is trusted.'
}

function whyLocale (request: FastifyRequest, reply: FastifyReply | null): string {
  const { locale, license, query, cookies, headers } = request
  if (license === null) return `${locale}, the default: there is no license with languages of its own.`
  const means = (range: unknown) => typeof range === 'string' && lookupLanguage([locale], [range]) !== undefined
  const inQuery = typeof query === 'object' && query !== null && '_locale' in query ? query._locale : undefined
  if (means(inQuery)) return `${locale}, by _locale "${String(inQuery)}" of the query.`
  if (!/accept-language/i.test(String(reply?.getHeader('vary')))) return `${locale}: the license leaves no choice.`
  if (means(cookies['locale'])) return `${locale}, by the locale cookie.`
  if (negotiateLanguage([locale])(headers['accept-language']) !== undefined) return `${locale}, by Accept-Language "${String(headers['accept-language'])}".`
  return `${locale}, the license's default: the request asks for none of its languages.`
}

function whyAccess ({ license, is404, domain }: FastifyRequest): string {
  if (is404) return 'The path has no route: it is answered as such, whatever the license.'
  if (license !== null) return `"${license.name}" is open to everybody.`
  return `"${domain}" has no license, and the route needs none.`
}

function whyRequestPassed ({ method, headers }: FastifyRequest): string {
  if (['GET', 'HEAD', 'OPTIONS', 'TRACE'].includes(method)) return `${method} changes nothing.`
  if (headers.cookie === undefined) return 'Without a cookie it acts in nobody\'s name.'
  if (headers['sec-fetch-site'] !== undefined) return `Sec-Fetch-Site "${String(headers['sec-fetch-site'])}": it comes from this site.`
  return headers.origin === undefined ? 'It carries neither Sec-Fetch-Site nor Origin: it is no browser\'s.' : `Origin "${headers.origin}" is this site.`
}
