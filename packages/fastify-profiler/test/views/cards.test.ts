import t from 'tap'
import { boundedCard } from '../../features/toolbar/toolbar.ts'
import { httpCard } from '../../features/http-client/http-client-panel.ts'
import { logCard } from '../../features/logs/logs-panel.ts'
import { queryCard } from '../../features/queries/database-panel.ts'
import { timeCard } from '../../features/performance/performance-panel.ts'
import { context, exampleCall, exampleQuery, exampleUse, profile } from './example-profile.ts'

const location = { file: '/srv/museum/routes/cart.ts', line: 41, column: 5 }
const query = exampleQuery({ duration: 2, location })
const use = exampleUse([{ ...query, sql: 'select 2', duration: 1 }, query, query], { duration: 5 })

t.test('the card of queries has the statements that took most, with their number', async t => {
  const of = context(profile({ duration: 10 }))
  t.same(queryCard(use, of), {
    title: '3 queries, 5.00 ms',
    note: '50% of the request',
    warnings: [],
    rows: [
      ['2 ×', 'select 1', '4.00'],
      ['', 'select 2', '1.00'],
    ],
  })
  const repetition = { sql: 'select 1', count: 9, duration: 3 }
  const repetitions = [
    { ...repetition, kind: 'loop' as const, locations: [location] },
    { ...repetition, kind: 'duplicate' as const, locations: [] },
  ]
  t.match(queryCard({ ...use, waited: 2, repetitions }, of), {
    warnings: ['N+1: 9 queries of one shape at routes/cart.ts:41:5', '9 equal queries'],
    foot: 'waited up to 2.00 ms for a connection',
  })
})

t.test('the card of outgoing requests has the slowest first, and tells of failures', async t => {
  const call = exampleCall({ url: 'http://prices.example/', duration: 2 })
  const calls = [call, { ...call, duration: 5 }, { ...call, status: null, duration: null }]
  t.match(httpCard({ count: 3, failed: 1, duration: 7, calls }), {
    warnings: ['1 failed'],
    rows: [
      ['200', 'GET http://prices.example/', '5.00'],
      ['200', 'GET http://prices.example/', '2.00'],
      ['–', 'GET http://prices.example/', 'not over'],
    ],
  })
  t.equal(httpCard({ count: 1, failed: 0, duration: 7, calls: [] }).warnings, undefined)
})

t.test('the card of logs has the lines from warnings on, worst first', async t => {
  const line = { level: 30, start: 1, message: 'fine', fields: {} }
  t.match(logCard([line, { ...line, level: 40, message: '' }, { ...line, level: 50, message: 'broken' }]).rows, [
    ['error', 'broken', '1.00'],
    ['warn', 'No message.', '1.00'],
  ])
})

t.test('a card is cut to what a toolbar can show', async t => {
  const card = boundedCard({
    title: 'x'.repeat(500),
    warnings: ['1', '2', '3', '4'],
    rows: Array.from({ length: 9 }, () => ['', 'a\nb', ''] as const),
  })
  t.same([card.title.length, card.warnings?.length, card.rows?.length, card.foot], [161, 3, 5, '4 more'])
  t.same(card.rows?.[0], ['', 'a b', ''])
})

t.test('the card of the time warns of time in which nothing ran', async t => {
  const idle = profile({ duration: 100, lifecycle: [], spans: [], database: null })
  t.match(timeCard(idle).warnings, ['100 ms unaccounted, 100% of the request.'])
})
