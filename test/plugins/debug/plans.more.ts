import { sql } from 'kysely'
import pg from 'pg'
import t from 'tap'
import type { Json } from '#profiler/core/profile'
import { explainQuery, NoPlan } from '#profiler/features/explain/explain-query'
import { plainApp } from '#profiler/test/profiled-app'
import { exampleQuery } from '#profiler/test/views/example-profile'
import { openTestDatabase } from '../../support/test-database.ts'

// Each remedy is proved: the index is made, and the planner must use it.

const database = await openTestDatabase(t)
const { db, pool } = database
for (const statement of [
  'drop schema if exists plans cascade',
  'create schema plans',
  `create table plans.works (id int primary key, artist int, state text, email varchar(80), made timestamptz,
    born timestamp, note text, data jsonb, parent int, is_shown boolean, code char(8))`,
  `insert into plans.works select n, n % 1000, case when n % 100 = 0 then 'lost' else 'kept' end,
    'owner' || n || '@example.org', timestamptz '2026-01-01' + n * interval '1 minute',
    timestamp '2026-01-01' + n * interval '1 minute', md5(n::text),
    jsonb_build_object('room', n % 1000, 'tag', 'x' || n), case when n % 400 > 0 then n / 10 end, n % 300 = 0, 'c' || n
    from generate_series(1, 16000) n`,
  'create index works_state on plans.works (state)',
  'create table plans.visits (id int primary key, work int, amount int)',
  'insert into plans.visits select n, n % 3200, n from generate_series(1, 16000) n',
  'create table plans.rooms (id int primary key, name text)',
  "insert into plans.rooms select n, 'room ' || n from generate_series(1, 20) n",
  'create table plans.days (id int, day int, artist int, primary key (id, day)) partition by range (day)',
  'create table plans.days_1 partition of plans.days for values from (0) to (100)',
  'create table plans.days_2 partition of plans.days for values from (100) to (200)',
  'insert into plans.days select n, n % 200, n % 1000 from generate_series(1, 16000) n',
  'analyze plans.works',
  'analyze plans.visits',
  'analyze plans.rooms',
  'analyze plans.days',
]) {
  await sql.raw(statement).execute(db)
}
t.teardown(() => sql`drop schema plans cascade`.execute(db))

/** The tables of the test, without their schema in the statements. */
async function connect() {
  const client = await pool.connect()
  await client.query({ text: 'set search_path to plans' })
  return {
    query: client.query.bind(client),
    release: () => client.query({ text: 'reset search_path' }).then(() => client.release()),
  }
}

async function verdictsOf(text: string, parameters: Json[] = []) {
  const explained = await explainQuery({ connect }, exampleQuery({ sql: text, parameters }), false, 30_000)
  if (explained instanceof NoPlan) throw explained
  return explained.verdicts
}

/** The indexes that a statement's plan uses once these are made. Nothing is kept. */
async function usedAfter(indexes: string, text: string): Promise<string[]> {
  const client = await connect()
  try {
    await client.query({ text: 'begin' })
    const before = await client.query({ text: "select indexname from pg_indexes where schemaname = 'plans'" })
    const old = before.rows.map(row => String(row.indexname))
    for (const index of indexes.split('; ')) await client.query({ text: index })
    // The planner knows nothing of an expression before.
    await client.query({ text: `analyze ${/on (\w+)/.exec(indexes)?.[1]}` })
    const { rows } = await client.query({ text: `explain (format json) ${text.replace('$1', '12')}` })
    const names = [...JSON.stringify(rows).matchAll(/"Index Name":"(\w+)"/g)].map(([, name = '']) => name)
    return names.filter(name => !old.includes(name))
  } finally {
    await client.query({ text: 'rollback' })
    await client.release()
  }
}

const all = /^Reads all [\d,]+ rows of works to find about [\d,]+\.$/

const missing: [text: string, index: string, claim?: RegExp, parameters?: Json[]][] = [
  ['select * from works where artist = 12', 'works (artist)'],
  ['select * from works where artist = $1', 'works (artist)', all, [12]],
  ['select * from works where artist = 12 and parent = 7', 'works (artist, parent)'],
  ["select * from works where artist = 12 and made < '2026-01-02'", 'works (artist, made)'],
  ["select * from works where made < '2026-01-02'", 'works (made)'],
  ["select * from works where made > '2026-01-02' and made < '2026-01-03'", 'works (made)'],
  ["select * from works where lower(email) = 'owner7@example.org'", 'works (lower((email)::text))'],
  ["select * from works where artist::text = '12'", 'works (((artist)::text))'],
  ["select * from works where born::date = '2026-01-05'", 'works (((born)::date))'],
  ['select * from works where abs(artist) = 12', 'works (abs(artist))'],
  ["select * from works where data ->> 'room' = '7'", "works ((data ->> 'room'::text))"],
  [`select * from works where data @> '{"tag": "x7"}'`, 'works using gin (data)'],
  ["select * from works where email = 'owner7@example.org'", 'works (email)'],
  ["select * from works where code = 'c7'", 'works (code)'],
  ["select * from works where email like 'owner77%'", 'works (email text_pattern_ops)'],
  ['select * from works where artist = 12 or artist = 13', 'works (artist)'],
  ['select * from works where artist = 12 or parent = 7', 'works (artist); create index on works (parent)'],
  ['select * from works where artist in (1, 2, 3)', 'works (artist)'],
  ['select * from works where parent is null and artist < 100', 'works (parent, artist)'],
  ['select * from works where is_shown and artist > 990', 'works (is_shown, artist)'],
  ['delete from works where artist = 12', 'works (artist)'],
  ["update works set note = '' where parent = 7", 'works (parent)'],
  ['select * from works w where w.artist = 12 and w.parent = 7', 'works (artist, parent)'],
  ['select count(*) from works where artist between 5 and 7', 'works (artist)'],
  [
    'select name, (select count(*) from visits v where v.work = r.id) from rooms r',
    'visits (work)',
    /^Reads all 16,000 rows of visits to find about 5\.$/,
  ],
  [
    'select * from works w join visits v on v.work = w.id where w.id < 4',
    'visits (work)',
    /^Reads all 16,000 rows of visits to join them to about 3\.$/,
  ],
  [
    'select * from works order by made desc limit 10',
    'works (made)',
    /^Sorts about 16,000 rows of works to return the first 10\.$/,
  ],
  [
    "select * from works where state = 'kept' order by made limit 10",
    'works (state, made)',
    /^Sorts about 15,\d+ rows/,
  ],
  ['select * from works order by made, id desc limit 5', 'works (made, id DESC)', /^Sorts about 16,000 rows/],
  [
    'select * from days where artist = 12',
    'days (artist)',
    /^Reads all 16,000 rows of days in 2 partitions to find about \d+\.$/,
  ],
  [
    'select * from days where artist = 12 and day < 50',
    'days (artist, day)',
    /^Reads all 8,000 rows of days in a partition to find about \d+\.$/,
  ],
]

for (const [text, index, claim = all, parameters] of missing) {
  t.test(`an index is advised, and used, for ${text}`, async t => {
    const [verdict, ...others] = await verdictsOf(text, parameters)
    t.strictSame(others, [])
    t.match(verdict, { tone: 'warning', claim, sql: `create index on ${index}` })
    t.not((await usedAfter(String(verdict?.sql), text)).length, 0)
  })
}

const unadvised: [text: string, claim: RegExp, remedy: RegExp][] = [
  ["select * from works where made::date = '2026-01-05'", all, /Compare the column itself/],
  ["select * from works where date_trunc('day', made) = '2026-01-05'", all, /Compare the column itself/],
  ["select * from works where note like '%abc%'", all, /anywhere in a text.*pg_trgm/],
  ["select * from works where note ilike 'abc%'", all, /lower\(…\)/],
  ["select * from works where artist < 900 and note <> 'x' and parent = 7 and id <> 3", all, /differs from a value/],
  [
    'select * from works order by id offset 12000 limit 10',
    /^Reads about 12,000 rows only to skip them\.$/,
    /page before/,
  ],
]

for (const [text, claim, remedy] of unadvised) {
  t.test(`no index is advised, but another remedy, for ${text}`, async t => {
    t.match(await verdictsOf(text), [{ tone: 'warning', claim, remedy, sql: null }])
  })
}

for (const text of [
  'select * from works where id = 7',
  "select * from works where made > '2025-01-01'",
  'select count(*) from works',
  'select artist, count(*) from works group by artist',
  'select count(*) from works w join visits v on v.work = w.id',
  "select * from rooms where name = 'room 7'",
  'select * from works order by made',
  "select * from works where state = 'lost' limit 10",
]) {
  t.test(`no index is missing for ${text}`, async t => {
    t.match(await verdictsOf(text), [{ tone: 'neutral', claim: /^No missing index found\./, sql: null }])
  })
}

const skip = database.isShared ? false : 'The embedded database has no address to connect to.'

t.test(
  'without a pool for it, queries are explained with the options of the pool that sent them',
  { skip },
  async t => {
    const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(db)
    const url = new URL(String(process.env.TEST_DATABASE_URL))
    url.pathname = String(rows[0]?.name)
    const open = (name: string) => {
      const used = new pg.Pool({ connectionString: url.href, options: `-c search_path=${name}` })
      t.teardown(() => used.end())
      return used
    }
    const plans = open('plans')
    url.pathname = 'template1'
    const other = open('public')
    const app = await plainApp(t)
    app.get('/works', async () => {
      const { rows } = await plans.query('select * from works where artist = $1', [12])
      return rows
    })
    app.get('/other', async () => {
      const { rows } = await other.query('select 1')
      return rows
    })
    const { headers } = await app.inject('/works')
    const explain = () =>
      app.inject({
        method: 'POST',
        url: `/_profiler/${headers['x-debug-token']}/queries/1/explain`,
        headers: { accept: 'application/json', 'sec-fetch-site': 'same-origin' },
      })
    t.match((await explain()).json(), { verdicts: [{ claim: all, sql: 'create index on works (artist)' }] })

    await app.inject('/other')
    t.match((await explain()).json(), {
      error: /^The application uses several databases \(.*explainPool says which to ask/,
    })
  },
)
