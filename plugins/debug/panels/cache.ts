import { html, renderBadge, renderDataTable, renderMetrics, type Panel, type Tone } from '../profiler/index.ts'
import type { ReadRecord, RequestReads, StoreLog } from '../store-log.ts'

const meaning: Record<ReadRecord['outcome'], [text: string, tone: Tone]> = {
  hit: ['held', 'good'],
  miss: ['loaded', 'warning'],
  shared: ['waited for another\'s load', 'neutral']
}

/** What the request read from the store, and whether it was there. */
export function cachePanel (log: StoreLog): Panel<RequestReads> {
  return {
    name: 'cache',
    label: 'Cache',
    collect ({ recorder }) {
      const reads = log.of(recorder)
      return reads.count === 0 ? null : reads
    },
    badge: ({ first, count }) => ({ text: `${first.filter(({ outcome }) => outcome === 'hit').length}/${count}`, tone: 'neutral' }),
    body ({ first, count }) {
      const held = first.filter(({ outcome }) => outcome === 'hit').length
      return html`${renderMetrics([
        { label: 'Reads', value: String(count) },
        { label: 'Held', value: String(held) },
        { label: 'Loaded', value: String(first.filter(({ outcome }) => outcome === 'miss').length) }
      ])}
${renderDataTable('Reads of the store', [{ label: 'At', kind: 'number' }, { label: 'Records of' }, { label: 'Key' }, { label: 'Answer' }], first.map(({ at, table, column, key, outcome }) => {
  const [text, tone] = meaning[outcome]
  return { cells: [`${at.toFixed(2)} ms`, html`<code>${table}</code> by ${column}`, html`<code>${key}</code>`, renderBadge(text, tone)] }
}))}
${first.length < count && html`<p class="muted">${String(count - first.length)} further reads are not listed.</p>`}`
    }
  }
}
