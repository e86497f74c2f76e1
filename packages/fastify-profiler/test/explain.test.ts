import t from 'tap'
import { explainQuery, type Explanation } from '../features/explain/explain-query.ts'
import { NoPlan } from '../features/explain/plan.ts'
import type { ExplainClient, ExplainPool } from '../core/feature.ts'
import { exampleQuery } from './views/example-profile.ts'

const query = exampleQuery({ sql: 'select * from carts where user_id = $1', parameters: [1] })

/** A pool whose database answers EXPLAIN so. The statements and how connections were released are told. */
function poolOf(answer: () => Promise<unknown>, sizes: object[] = []) {
  const statements: string[] = []
  const released: Array<boolean | undefined> = []
  const client: ExplainClient = {
    async query({ text }) {
      statements.push(text)
      if (text.includes('pg_class')) return { rows: sizes }
      return { rows: text.startsWith('explain') ? [await answer()] : [] }
    },
    release: destroy => released.push(destroy),
  }
  return { pool: { connect: async () => client }, statements, released }
}

/** The plan of the query. Fails if there is none. */
async function planOf(pool: ExplainPool, run = false, asked = query): Promise<Explanation> {
  const explained = await explainQuery(pool, asked, run)
  if (explained instanceof NoPlan) throw explained
  return explained
}

/** Why there is no plan. */
async function refusalOf(pool: ExplainPool, wait?: number): Promise<unknown> {
  return explainQuery(pool, query, false, wait)
}

const planned = (plan: object) => async () => ({ 'QUERY PLAN': [{ Plan: plan }] })

t.test('a plan is asked for in a read-only transaction with a time limit, and rolled back', async t => {
  const { pool, released, statements } = poolOf(planned({ 'Node Type': 'Result' }))
  await explainQuery(pool, query)
  t.match(statements, [
    'begin read only',
    'set local statement_timeout = 2000',
    `explain (format json) ${query.sql}`,
    /pg_class/,
    'rollback',
  ])
  t.strictSame(released, [false])
})

t.test('a query that was run again tells what was wrong about its plan', async t => {
  const scan = {
    'Node Type': 'Parallel Seq Scan',
    'Relation Name': 'carts',
    'Plan Rows': 5,
    'Actual Loops': 2,
    'Parallel Aware': true,
  }
  const { pool, released } = poolOf(
    planned({
      'Node Type': 'Sort',
      'Plan Rows': 10,
      'Actual Rows': 5000,
      'Actual Loops': 1,
      'Actual Total Time': 3,
      'Sort Space Type': 'Disk',
      'Sort Space Used': 2048,
      Plans: [
        { ...scan, Filter: '(n % 2 = 0)', 'Actual Rows': 20, 'Rows Removed by Filter': 4000 },
        { ...scan, Filter: 'is_open', 'Actual Rows': 1500, 'Rows Removed by Filter': 90_000 },
        'no node',
      ],
    }),
  )
  const { nodes, verdicts } = await planOf(pool, true)
  t.strictSame(released, [true], 'since the query may have locked something for the session')
  t.strictSame(
    verdicts.map(({ claim, sql }) => [claim, sql]),
    [
      ['Reads all 8,040 rows of carts to find 40.', null],
      ['Reads all 183,000 rows of carts to find 3,000.', null],
      ['Expected 10 rows from its Sort, and got 5,000.', null],
      ['Sorting 5,000 rows wrote 2,048 kB to disk.', null],
      ['Expected 5 rows of carts, and got 3,000.', 'analyze carts'],
    ],
  )
  t.match(nodes, [{ depth: 0, time: 3 }, { depth: 1, actual: 40 }, { depth: 1 }])
})

t.test('an estimate that is a little wrong is no finding', async t => {
  const { pool } = poolOf(planned({ 'Node Type': 'Result', 'Plan Rows': 5000, 'Actual Rows': 4000 }))
  t.match((await planOf(pool, true)).verdicts, [{ tone: 'neutral' }])
})

t.test('without a run, the size of a table is what the database knows of it', async t => {
  const scan = {
    'Node Type': 'Seq Scan',
    'Relation Name': 'carts',
    'Plan Rows': 5,
    Alias: 'c',
    Filter: '((c.age > 3) AND (c.id = 4))',
  }
  const large = poolOf(planned(scan), [{ name: 'carts', size: 48_210, columns: { age: 'integer', id: 'integer' } }])
  t.match((await planOf(large.pool)).verdicts, [
    { claim: 'Reads all 48,210 rows of carts to find about 5.', sql: 'create index on carts (id, age)' },
  ])
  const unknown = poolOf(planned(scan))
  t.match((await planOf(unknown.pool)).verdicts, [{ tone: 'neutral' }])
})

t.test('a database that sends no plan, or an error, is quoted', async t => {
  t.match(await refusalOf(poolOf(async () => ({})).pool), { message: /The database has sent no plan/ })
  const failing = poolOf(async () => {
    throw new Error('wrapped', { cause: new Error('relation is gone') })
  })
  t.match(await refusalOf(failing.pool), { message: /refuses to explain it: relation is gone\.$/ })
  t.strictSame(failing.released, [true])
})

t.test('a database that does not answer is given up, and its connection closed', async t => {
  const { pool, released } = poolOf(() => new Promise(() => {}))
  t.match(await refusalOf(pool, 5), { message: 'The database takes too long to explain it.' })
  t.strictSame(released, [true])
})

t.test('a connection that comes too late is given back', async t => {
  const { pool, released } = poolOf(planned({}))
  let connect = () => {}
  const late: ExplainPool = {
    connect: () =>
      new Promise(resolve => {
        connect = () => resolve(pool.connect())
      }),
  }
  t.match(await refusalOf(late, 5), { name: 'NoPlan' })
  connect()
  while (released.length === 0) await new Promise(resolve => setImmediate(resolve))
  t.strictSame(released, [false])
  const broken: ExplainPool = { connect: () => Promise.reject(new Error('too many clients')) }
  t.match(await refusalOf(broken), { message: /too many clients/ })
})

t.test('values that are masked, shortened or missing are not sent', async t => {
  for (const [sql, parameters] of [
    ['select $1', ['[masked]']],
    ['select $1', [{ token: '[masked]' }]],
    ['select $1', ['[70000 characters]']],
    ['select $1, $2', [1, '… (12 parameters)']],
    ['select $1, $2', [1]],
    ["select '[masked]'", []],
  ] as const) {
    const { pool, statements } = poolOf(planned({}))
    const { plan } = await planOf(pool, false, { ...query, sql, parameters: [...parameters] })
    t.equal(plan, 'generic', sql)
    t.match(statements, [
      /^begin/,
      /timeout/,
      /force_generic_plan/,
      /^prepare /,
      /execute/,
      /pg_class/,
      /^rollback/,
      /^deallocate /,
    ])
  }
})

/** A MySQL that plans so, as its documentation tells of version 1 of the format. No server made these. */
function mysqlOf(plan: object, sent: string[] = []): ExplainPool {
  const columns = [
    ['`carts`', 'user_id', 'int '],
    ['`carts`', 'made', 'datetime '],
    ['`users`', 'id', 'int '],
    ['`users`', 'name', 'varchar(80) utf8mb4_0900_ai_ci'],
    ['`archive`.`carts`', 'user_id', 'int '],
  ].map(([table, column, type]) => ({ TABLE_NAME: table, COLUMN_NAME: column, type }))
  const client: ExplainClient = {
    async query({ text, values }) {
      sent.push([text, ...(values ?? [])].join(' '))
      if (text.includes('information_schema')) return { rows: columns }
      if (text.includes('version')) return { rows: [{ version: '8.4.6' }] }
      return { rows: text.startsWith('explain') ? [{ EXPLAIN: JSON.stringify({ query_block: plan }) }] : [] }
    },
    release() {},
  }
  return { connect: async () => client }
}

const carts = {
  table_name: 'carts',
  access_type: 'ALL',
  rows_examined_per_scan: 48_210,
  rows_produced_per_join: 4821,
  filtered: '10.00',
  cost_info: { read_cost: '4338.90', eval_cost: '482.10', prefix_cost: '4821.00', data_read_per_join: '1M' },
  used_columns: ['id', 'user_id', 'made'],
  attached_condition: '(`shop`.`carts`.`user_id` = 1)',
}
const users = { ...carts, table_name: 'users', rows_examined_per_scan: 9000, attached_condition: undefined }
const of = (schema: string) => `(\`${schema}\`.\`carts\`.\`user_id\` = \`shop\`.\`users\`.\`id\`)`
const all = 'Reads all about 48,210 rows of carts to find 4.'
const index = 'alter table `carts` add index (`user_id`)'

const mysqlPlans: [what: string, sql: string, plan: object, claim: string, remedy: string | null][] = [
  [
    'an alias with a range',
    'select * from carts c where …',
    {
      table: {
        ...carts,
        table_name: 'c',
        attached_condition: "((`shop`.`c`.`user_id` = 1) and (`shop`.`c`.`made` < TIMESTAMP'2026-01-02 00:00:00'))",
      },
    },
    all,
    'alter table `carts` add index (`user_id`, `made`)',
  ],
  [
    'a sort',
    'select * from carts',
    { ordering_operation: { using_filesort: true, cost_info: { sort_cost: '4.00' }, table: carts } },
    all,
    index,
  ],
  [
    'a hash join',
    'select * from users join carts on …',
    {
      nested_loop: [
        { table: users },
        { table: { ...carts, using_join_buffer: 'hash join', attached_condition: of('shop') } },
      ],
    },
    all,
    index,
  ],
  [
    'a change',
    'update carts set made = null',
    { table: { ...carts, update: true, used_columns: undefined, cost_info: undefined } },
    all,
    index,
  ],
  [
    'a derived table',
    'select * from (select …) as t where …',
    {
      table: { ...carts, table_name: 't', materialized_from_subquery: { query_block: { message: 'No tables used' } } },
    },
    'No missing index found.',
    null,
  ],
  [
    'another database',
    'select * from archive.carts',
    { table: { ...carts, attached_condition: '(`archive`.`carts`.`user_id` = 1)' } },
    all,
    null,
  ],
  ['a view', 'select * from open_carts', { table: { ...carts, table_name: 'c' } }, all.replace('carts', 'c'), null],
  [
    'no table',
    'select 1',
    { message: 'Impossible WHERE noticed after reading const tables' },
    'No missing index found.',
    null,
  ],
]

for (const [what, sql, plan, claim, remedy] of mysqlPlans) {
  t.test(`a plan of ${what} is read in the format of MySQL's documentation`, async t => {
    const { verdicts } = await planOf(mysqlOf(plan), false, exampleQuery({ system: 'mysql', sql, rows: 4 }))
    t.match(verdicts, [{ claim, sql: remedy }])
  })
}

t.test('MySQL is asked for that format, and not to run a query again', async t => {
  const sent: string[] = []
  const asked = exampleQuery({ system: 'mysql', sql: 'select * from carts' })
  await planOf(mysqlOf({ table: carts }, sent), false, asked)
  t.match(sent[1], /max_execution_time = 2000 \/\*!80300 , explain_json_format_version = 1 \*\/$/)
  t.match(await explainQuery(mysqlOf({}), asked, true), { message: /MySQL not/ })
})

t.test('named values and dates reach MySQL as mysql2 sends them', async t => {
  const sent: string[] = []
  const parameters = [{ user: 7, at: new Date(2026, 0, 2, 3).toISOString() }]
  const sql = "select ':user' from carts where user_id = :user and made < :at and note = :constructor"
  await planOf(mysqlOf({ table: carts }, sent), false, exampleQuery({ system: 'mysql', sql, parameters }))
  t.match(
    sent[3],
    "select ':user' from carts where user_id = 7 and made < ? and note = :constructor 2026-01-02 03:00:00.000",
  )
})
