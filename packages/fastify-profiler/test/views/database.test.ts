import t from 'tap'
import type { DatabaseUse, Query, Repetition } from '../../core/profile.ts'
import { masked } from '../../core/mask/known-secrets.ts'
import { blocksMarkdown } from '../../core/view/block.ts'
import { databasePanel, groupQueries, divideByTransaction, runnableSql } from '../../features/queries/database-panel.ts'
import { renderPanelBody } from '../../features/home/profile-page.ts'
import { context, exampleQuery, exampleUse, profile, textOf } from './example-profile.ts'

const location = { file: '/srv/museum/routes/cart.ts', line: 41, column: 5 }

function query(changes: Partial<Query> = {}): Query {
  const sql = 'select * from products where id = $1'
  return exampleQuery({ sql, parameters: [7], start: 1, duration: 2, waited: 0.4, location, ...changes })
}

const use = (queries: Query[], changes: Partial<DatabaseUse> = {}) =>
  exampleUse(queries, { duration: 10, waited: 0.4, ...changes })

function page(database: DatabaseUse, query = ''): string {
  const of = context(profile({ duration: 20, database }), { query: new URLSearchParams(query) })
  return String(renderPanelBody(databasePanel, of))
}

t.test('the totals say how many queries of how many shapes took how much of the request', async t => {
  t.match(
    textOf(page(use([query(), query({ sql: 'select 1' })], { failed: 1, transactions: 2 }))),
    /queries 2 of 2 shapes, 1 failed .*50% of the request 10\.0 ms .*longest wait for a connection 0\.40 ms .*transactions 2/,
  )
  t.match(textOf(page(use([query()], { transactions: 1 }))), /query 1 of 1 shape .*transaction 1/)
})

t.test('the queries of one line with one statement are one row, with their number and their spread', async t => {
  const queries = [1, 2, 4].map(duration => query({ duration }))
  const markup = page(use([query({ sql: 'select 1', location: null }), ...queries]))
  t.match(textOf(markup), /2–4 7\.00 78% 3 3 × select \* from products where id = \$1/)
  t.equal(markup.match(/<line class="each"/g)?.length, 4)
  t.equal(markup.match(/<line class="median"/g)?.length, 1)
  t.match(markup, /title="Sent by a library\.">library<.*cart\.ts:41/s)
})

t.test('the size of answers is a column where any is known, and never a part of it', async t => {
  t.notMatch(page(use([query()])), '>kB<')
  const queries = [query({ bytes: 300 }), query({ bytes: 1200 }), query({ sql: 'a', bytes: 5 }), query({ sql: 'a' })]
  const markup = textOf(page(use(queries)))
  t.match(markup, /Rows kB Statement .* 2 1\.50 2 × select .* 2 – 2 × a/)
  const view = databasePanel.view(use(queries), context(profile({ duration: 20 })))
  t.match(blocksMarkdown(view, ''), /Rows \| kB \| Query/)
})

t.test('a repeated statement is a finding with its line, and its row is marked', async t => {
  const remedy = 'One query could fetch all: select … from carts where id = any($1).'
  const told = { sql: query().sql, count: 20, duration: 35.9, locations: [location], remedy }
  const found = (kind: Repetition['kind']) =>
    page(use([query(), query()], { duration: 40, repetitions: [{ kind, ...told }] }))
  t.match(textOf(found('loop')), /N\+1: 20 queries of one shape, 35\.9 ms\. .*where id = any\(\$1\)\. .*cart\.ts:41/)
  t.match(textOf(found('writes')), /20 × \w+ \w+, one at a time, 35\.9 ms\./)
  t.match(textOf(found('duplicate')), '20 equal queries, 35.9 ms.')
  t.match(found('loop'), '<b class="warning">2 ×</b>')
  t.match(page(use([query(), query()])), '<b>2 ×</b>')
})

t.test('the queries of a transaction are in a bracket that says how it ended', async t => {
  const markup = page(use([query(), query({ transaction: 1, sql: 'begin' }), query({ transaction: 1 }), query()]))
  t.match(textOf(markup), 'Transaction 1: 2 queries, 4.00 ms, not ended by this request')
  const ended = (sql: string, error: string | null = null) => textOf(page(use([query({ transaction: 1, sql, error })])))
  t.match(ended('ROLLBACK'), 'ended by rollback')
  t.match(ended('commit', 'serialization'), 'ended by commit, which failed')
  t.equal(markup.match(/<section class="transaction"/g)?.length, 1)
  const runs = divideByTransaction(groupQueries([query({ sql: 'a' }), query({ sql: 'b' }), query({ transaction: 2 })]))
  const found = runs.map(({ transaction, groups }) => [transaction, groups.length])
  t.same(found, [
    [null, 2],
    [2, 1],
  ])
})

t.test('the queries can be ordered by their time', async t => {
  const database = use([
    query({ sql: 'select 1', duration: 1 }),
    query({ sql: 'select 2', duration: 9, transaction: 1 }),
  ])
  const first = (markup: string) => /id="query-(\d)"/.exec(markup)?.[1]
  t.equal(first(page(database)), '1')
  t.equal(first(page(database, 'order=time')), '2')
  t.match(page(database, 'order=time'), /order=time" aria-current="true"/)
})

t.test('a query that failed, or that was not over, says so', async t => {
  t.match(textOf(page(use([query({ error: 'no such table' })]))), /failed .*no such table/)
  const found = textOf(page(use([query({ duration: null, rows: null })])))
  t.match(found, /– .*unfinished .*Unfinished when the profile was made/)
})

t.test('parameters are listed for each query, up to twenty', async t => {
  t.match(textOf(page(use([query({ parameters: [7, "it's"] })]))), '$1 = 7, $2 = &quot;it&#39;s&quot;')
  t.match(textOf(page(use(Array.from({ length: 22 }, () => query())))), 'and 2 more')
  t.notMatch(page(use([query({ parameters: [] })])), 'class="parameters"')
})

t.test('queries that are not listed are counted', async t => {
  t.match(page(use([query()], { count: 2000 })), 'Listed are the first 1 of 2,000 queries.')
})

t.test('a statement can be copied in a form that runs, with masked values named', async t => {
  const run = (sql: string, ...parameters: Query['parameters']) => runnableSql({ sql, parameters })
  t.same(
    [
      run('select $1, $2, $1', 7, "it's"),
      run('select ?, \'?\', "?", ?', true, null),
      run('select $1', { a: [1] }),
      run('select $1', masked),
      run('select $3', 1),
    ],
    [
      "select 7, 'it''s', 7",
      'select true, \'?\', "?", null',
      `select '{"a":[1]}'`,
      'select null /* parameter 1 is masked */',
      'select $3',
    ],
  )
  t.match(page(use([query()])), 'data-copy-text="select * from products where id = 7" hidden>Copy runnable SQL')
})

t.test('10,000 queries of one shape make a small page', async t => {
  const markup = page(use(Array.from({ length: 10_000 }, (_, n) => query({ duration: n / 1000 }))))
  t.ok(markup.length < 100_000, `${markup.length} characters`)
})
