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
import { answers, type ReadRecord, type RequestReads, type ReadLog } from '../reads.ts'

const tones: Record<ReadRecord['outcome'], Tone> = { hit: 'good', miss: 'warning', shared: 'neutral' }

/** What the request read from the entity cache, with hits and misses. */
export function cachePanel(log: ReadLog): Panel<RequestReads> {
  return {
    name: 'cache',
    label: 'Cache',
    collect: ({ recorder }) => log.of(recorder),
    badge: ({ hit, miss, shared }) => ({
      text: `${count(hit, 'hit')}, ${count(miss + shared, 'miss', 'misses')}`,
      tone: 'neutral',
    }),
    toolbarItem: reads => ({
      label: 'Cache',
      value: `${count(reads.hit, 'hit')}, ${count(reads.miss + reads.shared, 'miss', 'misses')}`,
      tone: 'neutral',
      card: {
        title: `${count(totalOf(reads), 'read')} of the entity cache`,
        rows: reads.first.map(({ table, column, value, outcome }) => [
          answers[outcome],
          `${table} by ${column}`,
          value,
        ]),
      },
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
  html`${first.length < total && html`<p class="notice">${cutText(reads)}</p>`}${renderDataTable(
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
      const outcomes = [
        count(reads.hit, 'hit'),
        count(reads.miss, 'miss', 'misses'),
        count(reads.shared, 'shared load'),
      ]
      return blocks(
        `${count(total, 'read')}: ${outcomes.join(', ')}.`,
        table(
          ['Start', 'Record', 'Result'],
          reads.first.map(({ start, table, column, value, outcome }) => [
            formatDuration(start),
            `${code(table)} by ${plain(column)} ${code(value)}`,
            answers[outcome],
          ]),
        ),
        reads.first.length < total ? cutText(reads) : null,
      )
    },
  }
}

function totalOf({ hit, miss, shared }: RequestReads): number {
  return hit + miss + shared
}

function cutText(reads: RequestReads): string {
  return `Showing the first ${reads.first.length} of ${totalOf(reads)} reads. The totals include all of them.`
}
