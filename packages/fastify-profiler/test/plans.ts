import type { ExplainPool } from '../core/feature.ts'
import type { Json } from '../core/profile.ts'
import { explainQuery } from '../features/explain/explain-query.ts'
import { NoPlan } from '../features/explain/plan.ts'
import { exampleQuery } from './views/example-profile.ts'

/** The tables that are planned, in a schema of their own. */
export const planTables = [
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
]

/** What the plan of a statement has to say: an index, another remedy, or that no index is missing. */
export interface PlanCase {
  text: string
  parameters: Json[]
  tone: 'warning' | 'neutral'
  claim: RegExp
  remedy: RegExp
  sql: string | null
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

const unadvised: [text: string, claim: RegExp, remedy: RegExp][] = [
  ["select * from works where made::date = '2026-01-05'", all, /Compare the column itself/],
  ["select * from works where date_trunc('day', made) = '2026-01-05'", all, /Compare the column itself/],
  ["select * from works where note like '%abc%'", all, /anywhere in a text.*pg_trgm/],
  ["select * from works where note ilike 'abc%'", all, /lower\(…\)/],
  ["select * from works where artist < 900 and note <> 'x' and parent = 7 and id <> 3", all, /differs from a value/],
  [
    'select w.id from works w join visits v on v.work = w.id where w.artist = 12 or v.amount = 7',
    /^Joins [\d,]+ rows to keep about [\d,]+: an OR compares columns of both sides\.$/,
    /joined by UNION/,
  ],
  [
    'select * from works order by id offset 12000 limit 10',
    /^Reads about 12,000 rows only to skip them\.$/,
    /page before/,
  ],
]

const fine = [
  // After an outer join, PostgreSQL filters what it found of one table.
  'select w.id from works w left join visits v on v.work = w.id where v.id is null or v.amount = -7',
  'select * from works where id = 7',
  "select * from works where made > '2025-01-01'",
  'select count(*) from works',
  'select artist, count(*) from works group by artist',
  'select count(*) from works w join visits v on v.work = w.id',
  "select * from rooms where name = 'room 7'",
  'select * from works order by made',
  "select * from works where state = 'lost' limit 10",
]

export const planCases: PlanCase[] = [
  ...missing.map(([text, index, claim = all, parameters = []]): PlanCase => {
    return { text, parameters, tone: 'warning', claim, remedy: /./, sql: `create index on ${index}` }
  }),
  ...unadvised.map(([text, claim, remedy]): PlanCase => {
    return { text, parameters: [], tone: 'warning', claim, remedy, sql: null }
  }),
  ...fine.map((text): PlanCase => {
    return { text, parameters: [], tone: 'neutral', claim: /^No missing index found\./, remedy: /^/, sql: null }
  }),
]

/** What is wrong about the verdicts on a statement. An advised index is made, and has to be used. */
export async function wrongVerdicts(connect: ExplainPool['connect'], planned: PlanCase): Promise<string[]> {
  const { claim, parameters, remedy, sql, text, tone } = planned
  const explained = await explainQuery({ connect }, exampleQuery({ sql: text, parameters }), false, 30_000)
  if (explained instanceof NoPlan) return [explained.message]
  const [verdict, ...others] = explained.verdicts
  if (verdict === undefined || others.length > 0) return [`${explained.verdicts.length} verdicts`]
  const isRight =
    verdict.tone === tone && claim.test(verdict.claim) && remedy.test(verdict.remedy) && verdict.sql === sql
  if (!isRight) return [JSON.stringify(verdict)]
  return sql === null || (await isUsed(connect, sql, text)) ? [] : [`${sql} is not used`]
}

/** Whether a statement's plan uses one of these indexes once they are made. Nothing is kept. */
async function isUsed(connect: ExplainPool['connect'], indexes: string, text: string): Promise<boolean> {
  const client = await connect()
  try {
    await client.query({ text: 'begin' })
    const before = await client.query({ text: "select indexname from pg_indexes where schemaname = 'plans'" })
    const old = JSON.stringify(before.rows)
    for (const index of indexes.split('; ')) await client.query({ text: index })
    // The planner knows nothing of an expression before.
    await client.query({ text: `analyze ${/on (\w+)/.exec(indexes)?.[1]}` })
    const { rows } = await client.query({ text: `explain (format json) ${text.replace('$1', '12')}` })
    const names = [...JSON.stringify(rows).matchAll(/"Index Name":("\w+")/g)].map(([, name = '']) => name)
    return names.some(name => !old.includes(name))
  } finally {
    await client.query({ text: 'rollback' })
    client.release()
  }
}
