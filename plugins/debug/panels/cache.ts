import { count, formatDuration, type Panel, type Tone } from 'fastify-profiler'
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
    view(reads) {
      const { first, hit, miss, shared } = reads
      const total = totalOf(reads)
      return [
        {
          metrics: [
            ['Reads', total],
            ['Hits', hit],
            ['Misses', miss],
            ['Shared loads', shared],
          ],
        },
        ...(first.length < total
          ? [{ notice: `Showing the first ${first.length} of ${total} reads. The totals include all of them.` }]
          : []),
        {
          title: 'Reads',
          columns: [{ label: 'Start', kind: 'number' }, { label: 'Record' }, { label: 'Result' }],
          rows: first.map(({ start, table, column, value, outcome }) => [
            formatDuration(start),
            [{ code: table }, ` by ${column} `, { code: value }],
            { badge: answers[outcome], tone: tones[outcome] },
          ]),
        },
      ]
    },
  }
}

function totalOf({ hit, miss, shared }: RequestReads): number {
  return hit + miss + shared
}
