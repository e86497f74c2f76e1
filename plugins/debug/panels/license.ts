import type { License } from '../../../src/entities/license.ts'
import { html, renderBadge, renderEmptyState, renderKeyValueTable, type Panel } from '../profiler/index.ts'
import type { ReadRecord, StoreLog } from '../store-log.ts'

interface LicenseData {
  /** What licenses were looked up by; null where the host was refused before. */
  domain: string | null
  row: License | null
  /** Where the answer came from; null: nothing was looked up. */
  outcome: ReadRecord['outcome'] | null
  /** Milliseconds that the lookup took. */
  duration: number | null
}

const sources: Record<ReadRecord['outcome'], string> = {
  hit: 'the store',
  miss: 'the database',
  shared: 'the database, by a load that was under way already'
}

/** Which license the host picked, and where that was known from. */
export function licensePanel (log: StoreLog): Panel<LicenseData> {
  return {
    name: 'license',
    label: 'License',
    collect ({ request, recorder, profile }) {
      if (request === null) return null
      const lookup = profile.spans.find(({ name }) => name === 'lookUpLicense')
      if (lookup === undefined) return null
      const read = log.of(recorder).first.find(({ table }) => table === 'licenses')
      return { domain: request.domain || null, row: request.license, outcome: read?.outcome ?? null, duration: lookup.duration }
    },
    labels: ({ row }) => row === null ? {} : { license: row.domain },
    badge: ({ row }) => row === null ? { text: 'none', tone: 'warning' } : null,
    toolbarItem: ({ row, domain }) => row === null
      ? { label: 'License', value: `none for ${domain ?? 'this host'}`, tone: 'warning' }
      : { label: 'License', value: row.name, tone: 'neutral' },
    body ({ domain, row, outcome, duration }) {
      return html`${renderKeyValueTable('Lookup', [
        ['Domain', html`<code>${domain ?? ''}</code>`],
        ['Answered by', outcome === null ? 'nobody: no license has so long a domain' : sources[outcome]],
        ['Took', duration === null ? 'unknown' : `${duration.toFixed(2)} ms`]
      ])}
${row === null
  ? renderEmptyState(`No license with a license type has the domain "${domain ?? ''}".`)
  : html`<h3>${row.name} ${renderBadge(row.protected ? 'protected' : 'open')}</h3>${renderKeyValueTable('License', Object.entries(row))}`}`
    }
  }
}
