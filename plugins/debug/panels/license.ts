import type { License } from '../../../src/entities.ts'
import { formatDuration, type Panel } from 'fastify-profiler'
import { unread } from '../../checks.ts'
import type { ReadRecord, ReadLog } from '../reads.ts'
import type { TimedVerdict, VerdictLog } from '../verdict-log.ts'

export interface LicenseData {
  /** The key of the lookup; empty if the host was refused before. */
  domain: string
  /** found: in `row`. none: the domain has no license. failed: the lookup threw. unfinished: the request ended. */
  lookup: 'found' | 'none' | 'failed' | 'unfinished' | 'never'
  reason: string
  row: License | null
  /** Whether the license is valid now; null if there is none, or it was not checked. Profiles of 0.1.0 lack it. */
  validity: CheckedValidity | null
  /** The outcome of the cache read; null if there was none. */
  outcome: ReadRecord['outcome'] | null
  /** Duration of the lookup in milliseconds; null if it did not end. */
  duration: number | null
}

interface CheckedValidity {
  isRefused: boolean
  reason: string
}

const sources: Record<ReadRecord['outcome'], string> = {
  hit: 'cache',
  miss: 'database',
  shared: "database, shared with another request's load",
}

/** The license of the host, and where it was loaded from. */
export function licensePanel(verdicts: VerdictLog, reads: ReadLog): Panel<LicenseData> {
  return {
    name: 'license',
    label: 'License',
    collect({ request, recorder }) {
      if (request === null) return null
      const checked = verdicts.of(recorder)
      const verdict = checked.get('license')
      const read = reads.of(recorder)?.first.find(({ table }) => table === 'licenses')
      return {
        domain: request.domain ?? '',
        ...lookupOf(verdict, request.license ?? null),
        row: request.license ?? null,
        validity: request.license ? validityOf(checked.get('validity')) : null,
        outcome: read?.outcome ?? null,
        duration: verdict === undefined || verdict.outcome === 'waiting' ? null : verdict.duration,
      }
    },
    labels: ({ row }) => (row === null ? {} : { license: row.domain }),
    badge: ({ lookup, validity }) => {
      if (lookup !== 'found') {
        return { text: lookup === 'failed' ? 'failed' : 'none', tone: lookup === 'failed' ? 'error' : 'warning' }
      }
      return validity?.isRefused === true ? { text: 'closed', tone: 'warning' } : null
    },
    toolbarItem: ({ row, domain, lookup }) =>
      row === null
        ? { label: 'License', value: `${lookup === 'none' ? 'none' : 'unknown'} for ${domain}`, tone: 'warning' }
        : { label: 'License', value: row.name, tone: 'neutral' },
    view({ domain, row, validity, reason, duration, outcome }) {
      return [
        {
          title: 'Lookup',
          pairs: [
            ['Domain', { value: domain }],
            ['Loaded from', outcome === null ? 'not loaded' : sources[outcome]],
            ['Lookup time', formatDuration(duration)],
            ...(validity ? [['Validity', validity.reason] as const] : []),
          ],
        },
        row === null
          ? { notice: reason, tone: 'warning' }
          : {
              section: [`${row.name} `, { badge: row.protected ? 'protected' : 'open' }],
              blocks: [{ title: 'License', pairs: Object.entries(row).map(([name, value]) => [name, { value }]) }],
            },
      ]
    },
  }
}

function validityOf(verdict: TimedVerdict | undefined): CheckedValidity | null {
  return verdict === undefined ? null : { isRefused: verdict.outcome === 'refused', reason: verdict.reason }
}

function lookupOf(verdict: TimedVerdict | undefined, license: License | null): Pick<LicenseData, 'lookup' | 'reason'> {
  switch (verdict?.outcome) {
    case undefined:
      return { lookup: 'never', reason: 'The request was refused before the license lookup.' }
    case 'waiting':
      return { lookup: 'unfinished', reason: 'The request ended before the lookup did.' }
    case 'refused':
      return { lookup: 'failed', reason: 'The lookup failed, so it is unknown whether the host has a license.' }
    case 'passed':
      return {
        lookup: license !== null ? 'found' : verdict.reason === unread ? 'failed' : 'none',
        reason: verdict.reason,
      }
  }
}
