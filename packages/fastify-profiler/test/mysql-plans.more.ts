import { createConnection, createPool } from 'mysql2/promise'
import t from 'tap'
import { explainQuery } from '../features/explain/explain-query.ts'
import { NoPlan } from '../features/explain/plan.ts'
import { watchedServers } from '../features/queries/drivers/driver.ts'
import { isRunning, serviceVariables } from './applications/services.ts'
import { plainApp } from './profiled-app.ts'
import { exampleQuery } from './views/example-profile.ts'

// Each remedy is proved: the index is made, and the planner must use it.

if (!(await isRunning('MariaDB'))) {
  t.pass('There is no MariaDB to ask.')
  process.exit()
}

const database = `plans_${process.pid}`
const uri = new URL(String(serviceVariables().MYSQL_URL))
uri.pathname = '/'
const admin = await createConnection({ uri: uri.href })
t.teardown(async () => {
  for (const name of [database, `${database}_old`]) await admin.query(`drop database ${name}`)
  await admin.end()
})
for (const statement of [
  `create database ${database}`,
  `use ${database}`,
  `create table works (id int primary key, artist int, state varchar(10), email varchar(80), made datetime, note text,
    parent int, code char(8))`,
  `insert into works select seq, seq % 1000, if(seq % 8 = 0, 'lost', 'kept'), concat('owner', seq, '@example.org'),
    timestampadd(minute, seq, '2026-01-01'), md5(seq), if(seq % 400 > 0, seq div 10, null), concat('c', seq)
    from seq_1_to_16000`,
  'create index works_state on works (state)',
  'create table visits (id int primary key, work int, amount int)',
  'insert into visits select seq, seq % 3200, seq from seq_1_to_16000',
  'analyze table works, visits',
  'create view shown as select * from works',
  `create database ${database}_old`,
  `create table ${database}_old.sales as select * from works`,
]) {
  await admin.query(statement)
}

uri.pathname = `/${database}`
const pool = createPool({ uri: uri.href, multipleStatements: true, namedPlaceholders: true })
t.teardown(() => pool.end())
const app = await plainApp(t)
app.get<{ Querystring: { sql: string; values?: string } }>('/ask', async ({ query: { sql, values = '[]' } }) => {
  const connection = await pool.getConnection()
  await connection.query('start transaction').then(() => connection.query(sql, JSON.parse(values)))
  await connection.rollback()
  connection.release()
})

/** What the profiler says of a statement that the application has sent. */
async function planOf(sql: string, values: object = [], run = '') {
  const { headers } = await app.inject({ url: '/ask', query: { sql, values: JSON.stringify(values) } })
  const { body } = await app.inject({
    method: 'POST',
    url: `/_profiler/${headers['x-debug-token']}/queries/2/explain${run}`,
    headers: { accept: 'application/json', 'sec-fetch-site': 'same-origin' },
  })
  return JSON.parse(body)
}

const all = /^Reads all about 1[56],\d+ rows of works to find \d+\.$/

const missing: [sql: string, index: string, claim?: RegExp, values?: unknown[]][] = [
  ['select * from works where artist = 12', '(`artist`)'],
  ['select * from works where artist = ?', '(`artist`)', all, [12]],
  ['select * from works where artist = 12 and parent = 1', '(`artist`, `parent`)'],
  ["select * from works where artist = 12 and made < '2026-01-02'", '(`artist`, `made`)'],
  ["select * from works where made between '2026-01-02' and '2026-01-02 06:00:00'", '(`made`)'],
  ["select * from works where email = 'it\\'s and owner7@example.org'", '(`email`)'],
  ["select * from works where email like 'owner77%' and artist = 770", '(`artist`, `email`)'],
  ["select id from works where note = 'x'", '(`note`(100))'],
  ['select * from works where artist in (1, 2, 3)', '(`artist`)'],
  ['select * from works where artist = 12 or parent = 7', '(`artist`), add index (`parent`)'],
  ['select * from works where parent is null and artist < 500', '(`parent`, `artist`)'],
  ['select * from works w where w.artist = 12', '(`artist`)'],
  ['delete from works where artist = 12', '(`artist`)'],
  ["update works set note = '' where parent = 7", '(`parent`)'],
  [
    "select * from works where state = 'lost' and parent = 8",
    '(`state`, `parent`)',
    /^works_state finds about [\d,]+ rows of works, and a filter keeps 2\.$/,
  ],
  [
    'select * from works w join visits v on v.work = w.id where w.id < 4',
    '(`work`)',
    /^Reads all about 1[56],\d+ rows of visits to find 15\.$/,
  ],
]

for (const [sql, index, claim = all, values] of missing) {
  t.test(`an index is advised, and used, for ${sql}`, async t => {
    const { error, verdicts } = await planOf(sql, values)
    t.match([error, verdicts], [undefined, [{ tone: 'warning', claim }]])
    const [{ sql: remedy }] = verdicts
    t.match(remedy, new RegExp(`^alter table \`\\w+\` add index ${index.replace(/[()]/g, '\\$&')}$`))
    const keys = async () => {
      const [rows] = await admin.query(`explain format=json ${sql}`, values)
      return [...JSON.stringify(rows).matchAll(/\\"key\\": \\"(\w+)\\"/g)].map(([, key]) => String(key))
    }
    const [, table = ''] = /`(\w+)`/.exec(String(remedy)) ?? []
    const names = async () => {
      const [rows] = await admin.query(`show index from ${table}`)
      return new Set(JSON.stringify(rows).match(/(?<="Key_name":")\w+/g))
    }
    const before = await names()
    await admin.query(String(remedy))
    const made = [...(await names())].filter(name => !before.has(name))
    const used = await keys()
    await admin.query(`alter table ${table} ${made.map(name => `drop index ${name}`).join(', ')}`)
    t.strictSame(
      made.filter(name => !used.join(' ').includes(name)),
      [],
      `one of ${made} is not used`,
    )
  })
}

const unadvised: [sql: string, claim: RegExp, remedy: RegExp][] = [
  ["select * from works where note like '%abcde%'", all, /fulltext/],
  ["select * from works where date(made) = '2026-01-05' and artist = 9", all, /Compare the column itself/],
  ['select * from works where code = 7', all, /Compare it with a text/],
  ['select count(*) from works where artist = 12', /How many it leaves is only known when it has run\.$/, /^$/],
  ["select * from works where state = 'kept' and artist < 900", /How many|No missing index/, /^$/],
  ['select * from works where artist < 900', /^No missing index found\.$/, /^$/],
  ['select * from works where id = 7', /^No missing index found\./, /^$/],
]

for (const [sql, claim, remedy] of unadvised) {
  t.test(`no index is advised for ${sql}`, async t => {
    t.match(await planOf(sql), { verdicts: [{ claim, remedy, sql: null }] })
  })
}

t.test('a table of another database gets its index there, and one behind a view none', async t => {
  const verdictOf = async (sql: string) => (await planOf(sql)).verdicts[0]
  const claim = /^Reads all about 1[56],\d+ rows of \S+ to find 16\.$/
  const sql = `alter table \`${database}_old\`.\`sales\` add index (\`artist\`)`
  for (const sales of ['sales', 'sales s', '`sales` as s']) {
    t.match(await verdictOf(`select * from ${database}_old.${sales} where artist = 12`), { claim, sql }, sales)
  }
  t.match(await verdictOf('select * from shown where artist = 12'), { claim, remedy: /not certain/, sql: null })
})

t.test('named values are planned as mysql2 sends them', async t => {
  const sql = 'select * from works where artist = :artist and email <> :mail'
  t.match(await planOf(sql, { artist: 12, mail: 'x' }), { verdicts: [{ claim: all }] })
})

t.test('a SELECT that is run again tells how many rows its filter leaves', async t => {
  const { nodes, plan, verdicts } = await planOf('select count(*) from works where artist = 12', [], '?run')
  t.match(verdicts, [{ claim: all, sql: 'alter table `works` add index (`artist`)' }])
  t.match({ nodes, plan }, { nodes: [{ type: 'Table scan', relation: 'works', actual: 16 }], plan: 'run' })
})

t.test('what changes anything, or is more than one statement, is not run', async t => {
  t.match(await planOf('delete from works where artist = 12', [], '?run'), { error: /^Only a SELECT/ })
  t.match(await planOf('select 1; delete from works', []), { error: /refuses to explain it/ })
  const [rows] = await admin.query('select count(*) as count from works')
  t.match(rows, [{ count: 16_000 }])
})

t.test('a query with a masked value is not explained', async t => {
  t.match(await planOf('select * from works where email = ?', ['Bearer abcdefghijklmnopqrstuvwxyz0123456789']), {
    error: /for its values only/,
  })
})

t.test('a query is explained whatever its texts contain', async t => {
  for (const text of ["it's\t\\", '\\" or "', "\\'\n\\u12", '\0\u001b']) {
    t.match(
      await planOf('select * from works where email = ?', [text]),
      { verdicts: [{ claim: all }] },
      JSON.stringify(text),
    )
  }
})

// Each ends a literal in one of the modes or character sets, if it is escaped as in another.
const hostile = [
  ...["\\' or 1 = 1 -- ", "' or 1 = 1 -- ", "\u4f60' or 1 = 1 -- ", "\u4e2d' or 1 = 1 -- ", "\u3042' or 1 = 1 -- "],
  ...["\u8868' or 1 = 1 -- ", '\u00bf` or 1 = 1 -- ', "?' or 1 = 1 -- ", '/* ?'],
]

const sessions = [
  "set sql_mode = ''",
  "set sql_mode = 'NO_BACKSLASH_ESCAPES'",
  "set sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'",
  'set names gbk',
  'set names sjis',
  'set names big5',
]

for (const session of sessions) {
  t.test(`after ${session}, no value changes what a query means`, async t => {
    const explained = async (sql: string, parameters: Array<string | number | string[]>) => {
      const connect = async () => {
        const server = watchedServers('mysql').find(({ name }) => name.endsWith(database))
        const client = await server?.connect()
        if (client === undefined) throw new Error('No query was sent.')
        await client.query({ text: session })
        return client
      }
      return explainQuery({ connect }, exampleQuery({ system: 'mysql', sql, parameters }), true)
    }
    for (const value of hostile) {
      for (const [sql, parameters] of [
        ['select * from works where note = ?', [value]],
        ['select * from works where parent = -1 and note in (?)', [['x', value]]],
        ['select * from works where note = ? and email = ? limit ?', [value, value, 3]],
      ] as const) {
        const plan = await explained(
          sql,
          [...parameters].map(one => (typeof one === 'object' ? [...one] : one)),
        )
        if (plan instanceof NoPlan) t.match(plan.message, /Illegal mix of collations|Incorrect string/, sql)
        else t.match(plan.nodes, [{ relation: 'works', actual: 0 }], `${sql} with ${value}`)
      }
      const named = await explained('select * from ?? where id = 1', [value])
      t.match(named, { message: /other than by plain names/ })
    }
  })
}

t.test('the lists, objects and names of mysql2 are planned as it sends them', async t => {
  const cases: [sql: string, values: unknown[]][] = [
    ['select * from ?? where ?? = ?', ['works', 'works.artist', 12]],
    ['select ?? from works where artist in (?)', [['id', 'state'], [12]]],
    ['update works set ? where artist = ?', [{ note: 'new', state: null }, 12]],
    ["select * from works where artist = ? and state is not ? and note <> '?' -- or ?\n limit ?", [12, null, 50]],
    ['select * from works where (artist, note) in (?) and artist = ?', [[[12, 'x']], 12]],
  ]
  for (const [sql, values] of cases) t.match(await planOf(sql, values), { nodes: [{ relation: 'works' }] }, sql)
})
