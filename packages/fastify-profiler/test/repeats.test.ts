import {
  CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely'
import t from 'tap'
import type { Profile } from '../core/profile.ts'
import { linesOf, profileOf } from './drivers/driver-app.ts'

const lineOf = linesOf(import.meta.filename)

type Rows = object[]

/** Answers a statement with rows that depend on its first parameter, or on the first number in its text. */
let answer = (_given: number): Rows => []

class StandIn extends DummyDriver {
  override async acquireConnection() {
    return {
      executeQuery: async <Row>({ parameters, sql }: CompiledQuery) => {
        const rows = answer(Number(parameters[0] ?? /\d+/.exec(sql)?.[0]))
        return { rows: rows as Row[] }
      },
      async *streamQuery() {},
    }
  }
}

const db = new Kysely<unknown>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new StandIn(),
    createIntrospector: db => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
})

const ask = async (sql: string, ...values: unknown[]) => (await db.executeQuery(CompiledQuery.raw(sql, values))).rows

const ids = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** Asks for each number from 1 on, one after another. */
const each = (sql: string | ((id: number) => string), values = (id: number): unknown[] => [id], count = 6) => {
  return async () => {
    for (const id of ids(count)) await (typeof sql === 'string' ? ask(sql, ...values(id)) : ask(sql(id)))
  }
}

const one = 'select * from rooms where id = $1'

/** Loops, with the remedy of each. */
const loops: Record<string, [run: () => Promise<unknown>, remedy: string]> = {
  'one query for each item': [each(one, id => [id], 5), 'select … from rooms where id = any($1)'],
  'all at once': [() => Promise.all(ids(9).map(async id => ask(one, id))), 'where id = any($1)'],
  'numbers in the text': [each(id => `select * from rooms where id = ${id}`), 'where id = any($1)'],
  'texts in the text': [each(id => `select * from rooms where name = 'It''s ${id}'`), 'where name = any($1)'],
  'casts of literals': [each(id => `select * from rooms where id = '${id}'::int`), 'where id = any($1)'],
  'lists of one': [each('select * from rooms where "r"."id" in ($1)'), 'where "r"."id" = any($1)'],
  'arrays of one': [each('select * from rooms where id = any($1)', id => [[id]]), 'where id = any($1)'],
  'lists that grow by one': [each(id => `select * from rooms where id in (${ids(id)})`), 'where id = any($1)'],
  'a constant list beside it': [
    each('select * from rooms where museum = $1 and floor in ($2, $3)', id => [id, 1, 2]),
    'where museum = any($1)',
  ],
  'two columns': [
    each('select * from rooms where museum = $1 and floor = $2', id => [id % 3, id]),
    'where (museum, floor) in (…)',
  ],
  totals: [each('select count(*) from rooms where museum = $1'), 'any($1) group by museum'],
  inserts: [each('insert into visits (room, note) values ($1, $2)', id => [id, 'x']), 'insert into visits (…) values'],
  updates: [each('update rooms set open = true where id = $1'), 'set … where id = any($1)'],
  'updates to other values': [each('update rooms set floor = $2 where id = $1', id => [id, id]), 'from unnest('],
  deletes: [each('delete from visits where room = $1'), 'delete from visits where room = any($1)'],
  'a table of a schema': [each(id => `select * from museum."rooms" where id = ${id}`), 'from rooms where id = any($1)'],
}

for (const [name, [run, remedy]] of Object.entries(loops)) {
  t.test(`a loop is told with its remedy: ${name}`, async t => {
    const found = await repetitionsOf(run)
    t.equal(found.length, 1)
    t.match(found[0]?.remedy, remedy)
    t.equal(found[0]?.kind, /^(?:inserts|updates|deletes)/.test(name) ? 'writes' : 'loop')
  })
}

const walk =
  (sql: string | ((id: number) => string), rowOf = (rows: unknown[]) => rows[0]) =>
  async () => {
    for (let id = 1, step = 0; step < 8; step++) {
      id = idIn(rowOf(await (typeof sql === 'string' ? ask(sql, id) : ask(sql(id)))))
    }
  }

const healthy: Record<string, () => Promise<unknown>> = {
  'four of a kind': each(one, id => [id], 4),
  'arrays of several': each('select * from rooms where id = any($1)', id => [[id, id + 1]]),
  'lists of several': each(id => `select * from rooms where id in (${[id, id * 2, id * 3]})`),
  'lists of different lengths': each(id => `select * from rooms where id in (${ids(9).slice(-id - 1)})`),
  'inserts of rows': each('insert into visits (room) values ($1), ($2)', id => [id, id]),
  'inserts of rows with defaults': each(id => `insert into visits values (${id}, now()), (${id + 9}, now())`),
  'inserts of arrays': each('insert into visits select * from unnest($1::int[])', id => [[id, id + 1]]),
  'inserts of JSON': each('insert into visits select * from jsonb_to_recordset($1)', id => [`[{"a":${id}},{"a":1}]`]),
  'updates with arrays': each('update rooms set floor = $1 where id = any($2)', id => [id, [id, 7]]),
  'one row that is updated again': each('update jobs set progress = $1 where id = $2', id => [id, 7]),
  savepoints: each(id => `savepoint s${id}`),
  settings: each(id => `set local statement_timeout = ${id}`),
  'settings by a function': each("select set_config('tenant', $1, true)"),
  'fetches from a cursor': each(id => `fetch ${id} from rooms_cursor`),
  'pages by offset': each('select * from rooms order by id limit 10 offset $1', id => [id * 10]),
  'pages by key': walk('select * from rooms where id > $1 order by id limit 2', rows => rows.at(-1)),
  'a walk': walk(one),
  'a walk with literals': walk(id => `select * from rooms where id = ${id}`),
  'a walk by two statements': async () => {
    for (let id = 1, step = 0; step < 6; step++) {
      const [museum] = await ask('select * from museums where room = $1', id)
      const [room] = await ask(one, idIn(museum))
      id = idIn(room)
    }
  },
  'values that change by themselves': each(() => "select nextval('rooms_id_seq')"),
  'jobs that are taken': each(() => 'select * from jobs limit 1 for update skip locked'),
  'a read after a change': async () => {
    await ask(one, 1)
    await ask('update rooms set floor = 2 where id = 1')
    await ask(one, 1)
  },
  'five lines through a function': async () => {
    await askForSeveralTables()
    const findRoom = async (id: number) => ask(one, id)
    await findRoom(10)
    await findRoom(24)
    await findRoom(31)
    await findRoom(47)
    await findRoom(58)
  },
  'a loop that its author allows': each(`${one} /* profiler: allow */`),
}

for (const [name, run] of Object.entries(healthy)) {
  t.test(`a healthy shape is not accused: ${name}`, async t => {
    t.same(await repetitionsOf(run), [])
  })
}

t.test('a loop through a function has its line and the line that calls it', async t => {
  const findHall = async (id: number) => ask('select * from halls where id = $1', id) // finds a hall
  const [found] = await repetitionsOf(async () => {
    await askForSeveralTables()
    for (const id of ids(6)) {
      await findHall(id) // calls for halls
    }
  })
  t.match(found?.locations, [{ line: lineOf('finds a hall') }, { line: lineOf('calls for halls') }])
})

t.test('a loop through a promise made by hand has the line that calls for the promise', async t => {
  const findShop = async (id: number) =>
    await new Promise<unknown>((resolve, reject) => {
      ask('select * from shops where id = $1', id).then(resolve, reject) // finds a shop
    })
  const loop = async () => {
    await askForSeveralTables()
    for (const id of ids(6)) {
      await findShop(id) // calls for shops
    }
  }
  const [found] = await repetitionsOf(loop)
  t.match(found?.locations, [{ line: lineOf('finds a shop') }, { line: lineOf('calls for shops') }])
  t.equal(found?.locations.length, 2)
})

/** Shows that "ask" only passes statements on. */
async function askForSeveralTables(): Promise<void> {
  await ask('select * from museums')
  await ask('select * from visits')
}

t.test('equal queries are told, unless they wait for a change', async t => {
  const read = async () => ask('select floor from rooms where id = $1', 3)
  const told = await repetitionsOf(async () => {
    await read()
    await read()
  })
  t.match(told, [{ kind: 'duplicate', count: 2 }])
  const polled = await repetitionsOf(async () => {
    for (let turn = 0; turn < 4; turn++) {
      await read()
      for (const end = performance.now() + 6; performance.now() < end;);
    }
  })
  t.same(polled, [])
})

/** The numbers follow each other in no order that a loop would have. */
function nextOf(id: number): Rows {
  return [{ id: (id * 21 + 37) % 200 }]
}

function idIn(row: unknown): number {
  return Number(Reflect.get(Object(row), 'id'))
}

t.test('a loop over numbers is one though a column has the next number, unless that refers to a row', async t => {
  const loop = each(one)
  t.match(await repetitionsOf(loop, id => [{ id, floor: id + 1 }]), [{ kind: 'loop' }])
  t.same(await repetitionsOf(loop, id => [{ id, next: id + 1 }]), [])
})

async function repetitionsOf(run: () => Promise<unknown>, answering = nextOf) {
  answer = answering
  const { database }: Profile = await profileOf(t, run)
  return database?.repetitions ?? []
}

for (const [name, value] of Object.entries({
  'an array of PostgreSQL': `{${','.repeat(200_000)}`,
  'a list in lists': '['.repeat(4900) + ']'.repeat(4900),
  'a text of colons': ':'.repeat(200_000),
})) {
  t.test(`a query with a long value is recorded, as a parameter and in the text: ${name}`, async t => {
    const { database } = await profileOf(t, async () => {
      await ask(one, value)
      await ask(`select * from rooms where name = '${value}'`)
      await ask(`insert into rooms values ${'(point(?, ?), ?), '.repeat(5000)}(null, null)`)
    })
    t.equal(database?.count, 3)
    t.match(
      database?.queries.map(({ duration }) => typeof duration),
      ['number', 'number', 'number'],
      'and the queries have ended',
    )
  })
}

t.test('queries whose long values differ at their end are not equal', async t => {
  const bytes = (last: number) => Buffer.from([...Array(15).fill(0), last])
  for (const value of [
    (id: number) => bytes(id),
    (id: number) => `${'x'.repeat(300)}${id}`,
    (id: number) => [...ids(25), id],
  ]) {
    const { database } = await profileOf(t, async () => {
      for (const id of ids(4)) await ask(one, value(id))
    })
    t.strictSame(database?.repetitions, [])
  }
})

t.test('a remedy has nothing of the values in the text', async t => {
  const { database } = await profileOf(
    t,
    each(id => `select coalesce('from hunter2', x) from rooms where id = ${id}`),
  )
  t.match(database?.repetitions, [{ kind: 'loop' }])
  t.notMatch(database?.repetitions[0]?.remedy, 'hunter2')
})

t.test('the timeline names a query by its verb and its table', async t => {
  const { spans } = await profileOf(t, async () => {
    await ask('drop table if exists "app"."rooms"')
    await ask('create table if not exists rooms (id int)')
    await ask('insert into rooms values ($1)', 1)
  })
  const queries = spans.filter(({ kind }) => kind === 'query')
  t.same(
    queries.map(({ name }) => name),
    ['drop rooms', 'create rooms', 'insert rooms'],
  )
})
