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
  /** The key of the lookup; empty if the host was refused before. */
  domain: string
  /** found: in `row`. none: the domain has no license. failed: the lookup threw. unfinished: the request ended. */
  lookup: 'found' | 'none' | 'failed' | 'unfinished' | 'never'
  row: License | null
  /** The outcome of the cache read; null if there was none. */
  outcome: ReadRecord['outcome'] | null
  /** Duration of the lookup in milliseconds; null if there was none. */
  duration: number | null
}

const sources: Record<ReadRecord['outcome'], string> = {
  hit: 'cache',
  miss: 'database',
  shared: "database, shared with another request's load",
}

/** The license of the host, and where it was loaded from. */
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
        ['Loaded from', html`${sourceOf(data)}`],
        ['Lookup time', html`${formatDuration(duration)}`],
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
        `Domain ${code(domain)}, loaded from: ${sourceOf(data)}, lookup time: ${formatDuration(duration)}.`,
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
  return lookup === 'none' ? 'not looked up: the host is longer than any license domain' : 'not loaded'
}

function absence({ lookup, domain }: LicenseData): string {
  switch (lookup) {
    case 'failed':
      return 'The lookup failed, so it is unknown whether the host has a license.'
    case 'unfinished':
      return 'The request ended before the lookup did.'
    case 'never':
      return 'The request was refused before the license lookup.'
    default:
      return `The domain "${domain}" has no license, or its license has no type.`
  }
}
