import t from 'tap'
import type { Explanation } from '../../features/explain/explain-query.ts'
import { NoPlan } from '../../features/explain/plan.ts'
import { explainBlocks, renderExplainPage } from '../../features/explain/explain-page.ts'
import { context, exampleQuery, profile } from './example-profile.ts'

const query = exampleQuery({ sql: 'select * from carts' })
const nothing = { relation: null, schema: null, alias: null, index: null, filter: null, condition: null, sortKeys: [] }
const step = { ...nothing, depth: 0, costs: [0, 1] as const, dropped: null, loops: null, spilled: null }
const run: Explanation = {
  plan: 'run',
  verdicts: [{ tone: 'warning', claim: 'Reads all.', remedy: 'An index', sql: 'create index' }],
  nodes: [
    { ...step, type: 'Sort', expected: 10, actual: 12, time: 3.25 },
    {
      ...step,
      type: 'Index Scan',
      depth: 1,
      index: 'carts_pkey',
      relation: 'carts',
      expected: 1,
      actual: null,
      time: 1,
    },
  ],
}

t.test('the plan of a query that was run has the rows and time of each step', async t => {
  t.match(explainBlocks(run, query), [
    { findings: [{ claim: 'Reads all.', detail: ['An index', [' ', { code: 'create index' }]] }] },
    { text: /^Run again/ },
    { source: 'select * from carts' },
    {
      columns: [{ label: 'Step' }, { label: 'Expected' }, { label: 'Rows' }, { label: 'ms' }, { label: 'Own ms' }, {}],
      rows: [
        [{ markdown: 'Sort' }, '10', '12', '3.25', { strong: '2.25' }],
        [{ markdown: /Index Scan using carts\\_pkey on carts/ }, '1', '', '1.00', '1.00'],
      ],
    },
  ])
})

t.test('a query without a plan says why, and may be run', async t => {
  const refused = new NoPlan('It is masked.')
  t.match(explainBlocks(refused, query), [{ notice: 'It is masked.', tone: 'warning' }, { source: query.sql }])
  const found = renderExplainPage(refused, query, '1', true, context(profile()))
  t.match(found, /It is masked\..*Analyze \(runs the query\).*Functions can act outside/s)
})
