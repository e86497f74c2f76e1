import type { License } from '../../../src/entities/license.ts'
import {
  blocks,
  code,
  formatDuration,
  html,
  plain,
  renderBadge,
  renderKeyValueTable,
  renderSection,
  table,
  type FinishedRequest,
  type Panel,
  type Span,
} from 'fastify-profiler'
import type { ReadRecord, StoreLog } from '../reads.ts'

export interface LicenseData {
  /** What licenses are looked up by; empty where the host was refused before. */
  domain: string
  /** found: `row` is it. none: no license has the domain. failed: nobody knows. unfinished: the request was over first. */
  lookup: 'found' | 'none' | 'failed' | 'unfinished' | 'never'
  row: License | null
  /** How the store answered; null where it was not asked. */
  outcome: ReadRecord['outcome'] | null
  /** Milliseconds that the lookup took; null where there was none. */
  duration: number | null
}

const sources: Record<ReadRecord['outcome'], string> = {
  hit: 'the cache',
  miss: 'the database',
  shared: 'the database, by a load that was under way already',
}

/** Which license the host picked, and where that was known from. */
export function licensePanel(log: StoreLog): Panel<LicenseData> {
  return {
    name: 'license',
    label: 'License',
    collect(finished) {
      const { request, recorder, profile } = finished
      if (request === null) return null
      const span = profile.spans.find(({ name }) => name === 'lookUpLicense')
      const read = log.of(recorder)?.first.find(({ table }) => table === 'licenses')
      return {
        domain: request.domain ?? '',
        lookup: lookupOf(finished, span),
        row: request.license ?? null,
        outcome: read?.outcome ?? null,
        duration: span?.duration ?? null,
      }
    },
    labels: ({ row }) => (row === null ? {} : { license: row.domain }),
    badge: ({ lookup }) =>
      lookup === 'found'
        ? null
        : { text: lookup === 'failed' ? 'failed' : 'none', tone: lookup === 'failed' ? 'error' : 'warning' },
    toolbarItem: ({ row, domain }) =>
      row === null
        ? { label: 'License', value: `none for ${domain}`, tone: 'warning' }
        : { label: 'License', value: row.name, tone: 'neutral' },
    body(data) {
      const { domain, row, duration } = data
      return html`${renderKeyValueTable('Lookup', [
        ['Domain', domain],
        ['Answered by', html`${sourceOf(data)}`],
        ['Took', html`${formatDuration(duration)}`],
      ])}
${
  row === null
    ? html`<p class="notice warning">${absence(data)}</p>`
    : renderSection(
        html`${row.name} ${renderBadge(row.protected ? 'protected' : 'open')}`,
        renderKeyValueTable('License', Object.entries(row)),
      )
}`
    },
    markdown(data) {
      const { domain, row, duration } = data
      return blocks(
        `Domain ${code(domain)}, answered by ${sourceOf(data)} in ${formatDuration(duration)}.`,
        row === null
          ? plain(absence(data))
          : table(
              ['Column', 'Value'],
              Object.entries(row).map(([name, value]) => [code(name), code(String(value))]),
            ),
      )
    },
  }
}

function lookupOf({ request }: FinishedRequest, span: Span | undefined): LicenseData['lookup'] {
  if (span === undefined) return 'never'
  if (span.outcome === 'threw') return 'failed'
  if (span.outcome === 'unfinished') return 'unfinished'
  return request?.license ? 'found' : 'none'
}

function sourceOf({ lookup, outcome }: LicenseData): string {
  if (outcome !== null) return sources[outcome]
  return lookup === 'none' ? 'nobody: no license has so long a domain' : 'nobody'
}

function absence({ lookup, domain }: LicenseData): string {
  switch (lookup) {
    case 'failed':
      return 'The lookup failed: whether the host has a license is not known.'
    case 'unfinished':
      return 'The request was over before the lookup was.'
    case 'never':
      return 'The request was refused before its license was looked up.'
    default:
      return `No license with a license type has the domain "${domain}".`
  }
}
