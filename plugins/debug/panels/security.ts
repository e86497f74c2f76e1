import { html, renderBadge, renderDataTable, renderKeyValueTable, type Panel, type Profile, type Tone } from '../profiler/index.ts'

type Verdict = 'passed' | 'refused' | 'not reached'

interface CheckData {
  check: string
  verdict: Verdict
  reason: string
}

interface SecurityData {
  /** Null: nobody is signed in. */
  user: string | null
  ip: string | null
  checks: CheckData[]
}

/** The checks by the names of their hooks, in their order, and what each sees to. */
const checks = [
  { hook: 'readForwarded', check: 'Forwarded headers', passed: 'they agree, or come from nobody who is trusted' },
  { hook: 'validateHost', check: 'Host', passed: 'valid' },
  { hook: 'chooseLocale', check: 'Locale', passed: 'chosen' },
  { hook: 'checkAccess', check: 'Access', passed: 'the host has a license, or needs none, and it lets in who asks' },
  { hook: 'checkRequest', check: 'Request checker', passed: 'well-formed, and from no other site' }
]

const tones: Record<Verdict, Tone> = { passed: 'good', refused: 'error', 'not reached': 'neutral' }

/** Who asked, and what each check said of it. */
export const securityPanel: Panel<SecurityData> = {
  name: 'security',
  label: 'Security',
  collect ({ request, profile }) {
    if (request === null) return null
    return { user: null, ip: profile.ip, checks: checks.flatMap(check => verdictOf(check, profile)) }
  },
  badge: ({ checks }) => checks.some(({ verdict }) => verdict === 'refused') ? { text: 'refused', tone: 'error' } : null,
  toolbarItem: ({ user }) => ({ label: 'User', value: user ?? 'nobody', tone: 'neutral' }),
  body: ({ user, ip, checks }) => html`${renderKeyValueTable('Who', [['User', user ?? 'nobody is signed in'], ['From', ip]])}
<h3>Checks</h3>
${renderDataTable('Checks', [{ label: 'Check' }, { label: 'Verdict' }, { label: 'Reason' }], checks.map(({ check, verdict, reason }) => ({
  cells: [check, renderBadge(verdict, tones[verdict]), reason]
})))}`
}

/** A check that the application does not have says nothing; one that ran and is not the last that ran has passed. */
function verdictOf ({ hook, check, passed }: typeof checks[number], { spans, exceptions }: Profile): CheckData[] {
  const span = spans.find(({ name }) => name === hook)
  if (span === undefined) return hook === 'readForwarded' ? [] : [{ check, verdict: 'not reached', reason: 'an earlier check refused the request' }]
  if (span.outcome === 'continued') return [{ check, verdict: 'passed', reason: passed }]
  return [{ check, verdict: 'refused', reason: exceptions[0]?.message ?? 'it answered itself' }]
}
