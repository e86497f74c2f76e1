import t from 'tap'
import type { Explanation } from '../../features/explain/explain-query.ts'
import { NoPlan } from '../../features/explain/explain-query.ts'
import { renderExplainMarkdown, renderExplainPage } from '../../features/explain/explain-page.ts'
import { context, exampleQuery, profile } from './example-profile.ts'

const query = exampleQuery({ sql: 'select * from carts' })
const step = { depth: 0, relation: null, schema: null, index: null, filter: null, dropped: null, spilled: null }
const run: Explanation = {
  plan: 'run',
  verdicts: [{ tone: 'warning', claim: 'Reads all.', remedy: 'An index', sql: 'create index' }],
  nodes: [
    { ...step, type: 'Sort', expected: 10, actual: 12, time: 3.25 },
    {
      ...step,
      type: 'Index Scan',
      depth: 9,
      index: 'carts_pkey',
      relation: 'carts',
      expected: 1,
      actual: null,
      time: null,
    },
  ],
}

t.test('the plan of a query that was run has the rows and time of each step', async t => {
  const page = renderExplainPage(run, query, '2', false, context(profile()))
  t.match(
    page,
    /Reads all\..*<code>create index<\/code>.*Run again.*>12<.*>3\.25<.*Index Scan using carts_pkey on carts/s,
  )
  t.match(renderExplainMarkdown(run, query), /\| Sort \| 10 \| 12 \| 3\.25 ms \|\n.*Index Scan.* \| 1 \| {2}\| {2}\|/)
})

t.test('a query without a plan says why, and a verdict may have no remedy', async t => {
  const page = renderExplainPage(new NoPlan('It is masked.'), query, '1', true, context(profile()))
  t.match(page, /class="notice warning">It is masked\..*Analyze \(runs the query\).*Functions can act outside/s)
  const fine = { tone: 'neutral' as const, claim: 'It uses carts_pkey.', remedy: '', sql: null }
  t.match(renderExplainMarkdown({ ...run, verdicts: [fine] }, query), /^# Plan\n\n- It uses carts/)
})
