import {
  blocks,
  code,
  count,
  formatDuration,
  html,
  plain,
  renderBadge,
  renderDataTable,
  renderMetrics,
  renderSection,
  table,
  type Panel,
  type Tone,
} from 'fastify-profiler'
import { answers, type ReadRecord, type RequestReads, type StoreLog } from '../reads.ts'

const tones: Record<ReadRecord['outcome'], Tone> = { hit: 'good', miss: 'warning', shared: 'neutral' }

/** What the request read from the entity cache, with hits and misses. */
export function cachePanel(log: StoreLog): Panel<RequestReads> {
  return {
    name: 'cache',
    label: 'Cache',
    collect: ({ recorder }) => log.of(recorder),
    badge: ({ hit, miss, shared }) => ({
      text: `${count(hit, 'hit')}, ${count(miss + shared, 'miss', 'misses')}`,
      tone: 'neutral',
    }),
    body(reads) {
      const { first, hit, miss, shared } = reads
      const total = totalOf(reads)
      return html`${renderMetrics([
        { label: 'Reads', value: String(total) },
        { label: 'Hits', value: String(hit) },
        { label: 'Misses', value: String(miss) },
        { label: 'Shared loads', value: String(shared) },
      ])}
${renderSection(
  'Reads',
  html`${first.length < total && html`<p class="notice">Showing the first ${String(first.length)} of ${String(total)} reads. The totals include all of them.</p>`}${renderDataTable(
    'Reads',
    [{ label: 'Start', kind: 'number' }, { label: 'Record' }, { label: 'Result' }],
    first.map(({ start, table, column, value, outcome }) => {
      return {
        cells: [
          formatDuration(start),
          html`<code>${table}</code> by ${column} <code>${value}</code>`,
          renderBadge(answers[outcome], tones[outcome]),
        ],
      }
    }),
  )}`,
  total,
)}`
    },
    markdown(reads) {
      const total = totalOf(reads)
      return blocks(
        `${count(total, 'read')}: ${count(reads.hit, 'hit')}, ${count(reads.miss, 'miss', 'misses')}, ${count(reads.shared, 'shared load')}.`,
        table(
          ['Start', 'Record', 'Result'],
          reads.first.map(({ start, table, column, value, outcome }) => [
            formatDuration(start),
            `${code(table)} by ${plain(column)} ${code(value)}`,
            answers[outcome],
          ]),
        ),
        reads.first.length < total
          ? `Showing the first ${reads.first.length} of ${total} reads. The totals include all of them.`
          : null,
      )
    },
  }
}

function totalOf({ hit, miss, shared }: RequestReads): number {
  return hit + miss + shared
}
