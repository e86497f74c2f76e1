import { blocks, code, count, formatDuration, html, plain, renderBadge, renderDataTable, renderMetrics, renderSection, table, type Panel, type Tone } from '../profiler/index.ts'
import type { ReadRecord, RequestReads, StoreLog } from '../store-log.ts'

const answers: Record<ReadRecord['outcome'], [text: string, tone: Tone]> = {
  hit: ['held', 'good'],
  miss: ['loaded', 'warning'],
  shared: ['shared a load', 'neutral']
}

/** What the request read from the store, and whether it was there. */
export function cachePanel (log: StoreLog): Panel<RequestReads> {
  return {
    name: 'cache',
    label: 'Cache',
    collect: ({ recorder }) => log.of(recorder),
    badge: reads => ({ text: `${reads.hit}/${totalOf(reads)}`, tone: 'neutral' }),
    body (reads) {
      const { first, hit, miss, shared } = reads
      const total = totalOf(reads)
      return html`${renderMetrics([
        { label: 'Reads', value: String(total) },
        { label: 'Held', value: String(hit) },
        { label: 'Loaded', value: String(miss) },
        { label: 'Shared a load', value: String(shared) }
      ])}
${renderSection('Reads', html`${first.length < total && html`<p class="notice">The first ${String(first.length)} are listed; the other ${String(total - first.length)} are counted.</p>`}${renderDataTable('Reads', [{ label: 'At', kind: 'number' }, { label: 'Record' }, { label: 'Answer' }], first.map(({ start, table, column, value, outcome }) => {
  const [text, tone] = answers[outcome]
  return { cells: [formatDuration(start), html`<code>${table}</code> by ${column} <code>${value}</code>`, renderBadge(text, tone)] }
}))}`, total)}`
    },
    markdown (reads) {
      const total = totalOf(reads)
      return blocks(
        `${count(total, 'read')}: ${reads.hit} held, ${reads.miss} loaded, ${reads.shared} shared with a load that was under way.`,
        table(['At', 'Record', 'Answer'], reads.first.map(({ start, table, column, value, outcome }) => [
          formatDuration(start), `${code(table)} by ${plain(column)} ${code(value)}`, answers[outcome][0]
        ])),
        reads.first.length < total ? `The other ${total - reads.first.length} are counted, not listed.` : null
      )
    }
  }
}

function totalOf ({ hit, miss, shared }: RequestReads): number {
  return hit + miss + shared
}
