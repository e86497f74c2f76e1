import t from 'tap'
import type { HttpCall, Json, Profile, Query } from '../core/profile.ts'
import { awaitsInARow } from '../features/performance/awaits-in-a-row.ts'
import { adviseOnCalls } from '../features/performance/advice.ts'
import { wastefulCalls } from '../features/performance/findings.ts'
import { performancePanel } from '../features/performance/performance-panel.ts'
import { beginQuery } from '../features/queries/queries.ts'
import { keptLines, profiledApp } from './profiled-app.ts'
import { context, exampleCall, exampleQuery, exampleUse, profile, span, summary } from './views/example-profile.ts'

/** What a handler does, step by step. Each call takes 10 ms unless it says otherwise. */
class Handler {
  readonly queries: Query[] = []
  readonly calls: HttpCall[] = []
  now = 1

  query(sql: string, parameters: Json[] = [], changes: Partial<Query> & { at?: number } = {}): this {
    const { at = this.queries.length + 1, ...others } = changes
    const query = exampleQuery({ sql, parameters, start: this.now, duration: 10, location: lineAt(at), ...others })
    this.queries.push(query)
    this.now += query.duration ?? 0
    return this
  }

  get(url: string, changes: Partial<HttpCall> & { at?: number } = {}): this {
    const { at = 100 + this.calls.length, ...others } = changes
    const call = exampleCall({ url, start: this.now, head: 9, duration: 10, location: lineAt(at), ...others })
    this.calls.push(call)
    this.now += call.duration ?? 0
    return this
  }

  each<Item>(items: readonly Item[], step: (item: Item) => unknown): this {
    for (const item of items) step(item)
    return this
  }

  sleep(ms: number): this {
    this.now += ms
    return this
  }

  /** Makes calls at the same time. */
  together(...steps: Array<() => unknown>): this {
    const start = this.now
    for (const step of steps) {
      this.now = start
      step()
    }
    return this
  }

  profile(changes: Partial<Profile> = {}): Profile {
    return profile({
      duration: this.now,
      path: '/museums/4711',
      spans: [span({ kind: 'handler', hook: null, duration: this.now })],
      request: { ...profile().request, params: { id: 4711 }, body: { ids: [301, 302, 303] }, query: { lang: 'fr' } },
      database: exampleUse(this.queries),
      http: { count: this.calls.length, failed: 0, duration: 0, calls: this.calls },
      ...changes,
    })
  }
}

const lineAt = (line: number) => ({ file: '/srv/museum/routes/museums.ts', line, column: 5 })
const ids = (count: number) => Array.from({ length: count }, (_, index) => 9000 + index * 7)

const list = 'select id from museums'
const one = 'select * from paintings where museum = $1'

type Act = (h: Handler) => unknown

/** A query with its values, or a request to a URL. */
type Call = string | readonly [sql: string, ...values: Json[]]

/** Awaits one call after another, each on a line of its own. */
const calls = (steps: readonly Call[], changes: Partial<Query> = {}): Act => {
  return h =>
    h.each(steps, step => {
      if (typeof step !== 'string') h.query(step[0], step.slice(1), changes)
      else if (step.includes('://')) h.get(step)
      else h.query(step, [], changes)
    })
}

/** Awaits a query for a list of so many rows, and then a call for each of so many ids. */
const loop = (rows: number, count: number, sql = one, changes: Partial<Query> = {}): Act => {
  return h => h.query(list, [], { ...changes, rows }).each(ids(count), id => h.query(sql, [id], { ...changes, at: 50 }))
}

/** Awaits requests of one line, one after another. */
const requests = (urls: readonly string[]): Act => {
  return h => h.each(urls, url => h.get(url, { at: 5 }))
}

const ofUser = (table: string): Call => [`select * from ${table} where user = $1`, 88]
const user: Call = ['select * from users where name = $1', 'fr']
const museum: Call = ['select * from museums where id = $1', 4711]

/** What could overlap, with the number of calls in a row. */
const overlapping: Array<[name: string, count: number, act: Act]> = [
  ['a loop over a list', 12, loop(12, 12)],
  ['a loop over most of a list', 7, loop(10, 7)],
  ['a loop over ids in the body', 3, h => h.each([301, 302, 303], id => h.query(one, [id], { at: 50 }))],
  [
    'a loop with two queries for each item',
    10,
    h =>
      h.query(list, [], { rows: 5 }).each(ids(5), id => {
        h.query(one, [id], { at: 50 })
        h.query('select * from rooms where museum = $1', [id], { at: 51 })
      }),
  ],
  [
    'a loop of requests over a list',
    4,
    h => h.query(list, [], { rows: 4 }).each(ids(4), id => h.get(`http://prices/items/${id}`, { at: 50 })),
  ],
  ['three queries without values', 3, calls(['select * from a', 'select * from b', 'select * from c'])],
  ['three queries for the same user', 3, calls(['users', 'orders', 'carts'].map(ofUser))],
  [
    'a count and a page of the same filter',
    2,
    calls([
      ['select count(*) from a where lang = $1', 'fr'],
      ['select * from a where lang = $1 limit 20', 'fr'],
    ]),
  ],
  [
    'queries for a path parameter and for the host',
    2,
    calls([museum, ['select * from l where host = $1', 'louvre.example']]),
  ],
  ['requests to three services', 3, calls(['http://a/rates', 'http://b/v2/methods', 'http://c/stock-levels'])],
  ['a query and a request', 2, calls([museum, 'http://a/rates'])],
  [
    'a literal that the request has',
    2,
    calls(["select * from m where lang = 'fr'", 'select * from n where id = 4711']),
  ],
  ['a short pause, as under load', 2, h => h.query('select 1').sleep(2.4).query('select 2')],
  ['two queries after one that they need', 2, calls([user, ofUser('orders'), ofUser('carts')])],
  [
    'queries with their waits for a connection',
    2,
    h => h.query('select * from a', [], { waited: 0.04 }).query('select * from b', [], { waited: 1 }),
  ],
]

const two = ['select 1', 'select 2']
const pages = (name: string, values: ReadonlyArray<number | string>) =>
  values.map(value => `http://a/list?${name}=${value}`)

/** What needs the result of the call before, runs at once already, or is meant to wait. */
const fine: Array<[name: string, act: Act]> = [
  [
    'paging by offset',
    h => h.each([0, 20, 40, 60], from => h.query('select * from a limit 20 offset $1', [from], { at: 5 })),
  ],
  ['paging by the last key, after a list as long', loop(4, 4, 'select * from a where id > $1 order by id limit 20')],
  ['paging of a service by number', requests(pages('page', [1, 2, 3, 4]))],
  ['paging of a service by cursor', requests(pages('cursor', ['', 'x81', 'x97']))],
  ['paging of a service by numbers that the request has', requests(pages('page', [301, 302, 303]))],
  [
    'polling without pauses',
    h => h.each(ids(5), () => h.query('select state from jobs where id = $1', [4711], { at: 5 })),
  ],
  ['polling with pauses', h => h.each(ids(5), () => h.get('http://a/jobs/4711', { at: 5 }).sleep(50))],
  [
    'polling of several states',
    h => h.query(list).each(ids(3), () => h.query(list, [], { at: 5 }).get('http://a/s', { at: 6 }).sleep(9)),
  ],
  ['a retry of a query after an error', h => h.query('select 1', [], { error: 'deadlock' }).query('select 1')],
  ['a retry of a request after an error', h => h.get('http://a/b', { status: 503 }).get('http://a/c')],
  [
    'a dataloader that batches each level',
    h =>
      h
        .query('select * from museums where id = any($1)', [[301, 302, 303]], { rows: 3 })
        .query('select * from rooms where id = any($1)', [[77, 78, 79]], { rows: 3 })
        .query('select * from works where id = any($1)', [[501, 502]], { rows: 2 }),
  ],
  [
    'a dataloader that loads in parallel',
    h => h.query(list, [], { rows: 3 }).together(...ids(3).map(id => () => h.query(one, [id], { at: 5 }))),
  ],
  ['a chain from user to order to item', calls([user, ofUser('orders'), ['select * from items where id = $1', 5150]])],
  ['a walk up a tree', h => h.each(ids(5), id => h.query('select parent from nodes where id = $1', [id], { at: 5 }))],
  ['a walk along links of a service', requests(ids(5).map(id => `http://a/nodes/${id}`))],
  ['a request for what a query told', calls([list, 'http://a/items/90210'])],
  ['a transaction', calls([...two, 'select 3'], { transaction: 1 })],
  ['reading what was written', calls([['insert into a values ($1)', 4711], 'select * from a', 'delete from a'])],
  ['posting to services', h => h.get('http://a/pay', { method: 'POST' }).get('http://a/mail', { method: 'POST' })],
  ['SQLite, which blocks', calls(two, { system: 'sqlite' })],
  ['short queries', calls(two, { duration: 1 })],
  ['queries that are a small part of the request', h => h.query('select 1').query('select 2').sleep(900)],
  ['work between the queries', h => h.query('select 1').sleep(20).query('select 2')],
  ['one allowed by a comment', calls(['select 1 /* profiler: allow */', 'select 2 -- profiler: allow'])],
  ['lists of ids in the text', calls(['select 1', 'select * from a where id in (7, 21)'])],
  ['a hidden value', calls(['select 1', ['select * from s where k = $1', '[masked]']])],
  ['a URL that is none', h => h.get('http://a/b').get('not a url')],
  ['a query that never ended', h => h.query('select 1').query('select 2', [], { duration: null })],
  ['an id in the text of a query', calls([list, 'select * from m where id = 90210'])],
  ['two calls for a list of two', loop(2, 2)],
  ['a loop over less than half of a list', loop(10, 4)],
  ['a loop over more than a list', loop(2, 4)],
]

for (const [name, count, act] of overlapping) {
  t.test(`in a row: ${name}`, async t => {
    const handler = new Handler()
    act(handler)
    t.match(awaitsInARow(handler.profile()), [{ count }])
  })
}

for (const [name, act] of fine) {
  t.test(`not in a row: ${name}`, async t => {
    const handler = new Handler()
    act(handler)
    t.same(awaitsInARow(handler.profile()), [])
  })
}

t.test('the finding has the time of all, what could overlap, and the line that need not wait', async t => {
  const handler = new Handler().query('select 1', [], { duration: 30 }).query('select 2').query('select 3')
  t.same(awaitsInARow(handler.profile()), [{ count: 3, time: 50, saved: 20, location: lineAt(2) }])
})

t.test('calls of different functions are not in a row', async t => {
  const handler = new Handler().query('select 1').query('select 2')
  const spans = [span({ start: 0, duration: 10.9 }), span({ kind: 'handler', start: 11, duration: 10 })]
  t.same(awaitsInARow(handler.profile({ spans })), [])
})

t.test('the row that could save most comes first', async t => {
  const handler = new Handler()
  handler.query('select 1').query('select 2').sleep(9).query('select 3').query('select 4').query('select 5')
  t.match(awaitsInARow(handler.profile()), [{ count: 3 }, { count: 2 }])
})

t.test('the finding says how much could overlap, on the page and in Markdown', async t => {
  const found = new Handler().query('select 1', [], { duration: 30 }).query('select 2').query('select 3').profile()
  const claim = '3 awaits one after another, 50.0 ms, 20.0 ms could overlap.'
  t.match(JSON.stringify(performancePanel.view(found, context(found))), `${claim} None needs`)
  t.match(performancePanel.toolbarItem?.(found, context(found)), {
    value: '51.0 ms · 3 awaits in a row',
    tone: 'warning',
  })
  t.match(performancePanel.toolbarItem?.(profile(), context(profile())), { tone: 'neutral' })
})

t.test('a loop that is told as N+1 is not told as awaits in a row, too', async t => {
  const handler = new Handler().query(list, [], { rows: 6 })
  handler.each(ids(6), id => handler.query(one, [id], { at: 50 }))
  const looping = handler.profile()
  const loop = { kind: 'loop' as const, sql: one, count: 6, duration: 60, locations: [lineAt(50)] }
  t.match(wastefulCalls(looping), [{ what: 'row', count: 6 }])
  looping.database?.repetitions.push(loop, { ...loop, kind: 'duplicate' })
  t.match(wastefulCalls(looping), [{ what: 'repeated', repetition: loop, location: lineAt(50) }])
})

t.test('one line a route tells of its wasteful calls, with the place and the profile', async t => {
  const said: string[] = []
  const { written } = adviseOnCalls({ advise: sentence => said.push(sentence), root: '/srv/museum' })
  const consider = (of: Profile) => written?.(summary(of), of)
  const found = new Handler().query('select 1', [], { duration: 30 }).query('select 2').profile()
  consider(profile())
  consider({ ...found, routing: { ...found.routing, matched: null } })
  consider(found)
  consider(found)
  t.same(said, [
    'GET /museums/:id: 2 awaits one after another, 40.0 ms, 10.0 ms could overlap. routes/museums.ts:2:5 (profile k3Jx9PzQ4wTn)',
  ])
  const unplaced = new Handler().query('select 1').query('select 2', [], { location: null }).profile({ method: 'HEAD' })
  consider(unplaced)
  t.match(said[1], /^HEAD .* overlap\. \(profile/)
})

t.test('the application logs one line for a route with a loop, and none if a comment allows it', async t => {
  const { lines, logger } = keptLines('warn')
  const app = await profiledApp(t, {}, { logger })
  for (const [url, comment] of [
    ['/loop', ''],
    ['/allowed', ' /* profiler: allow */'],
  ] as const) {
    app.get(url, async () => {
      for (const id of ids(6)) {
        const statement = `select * from paintings where museum = $1${comment}`
        beginQuery({ system: 'postgresql', statement, parameters: [id] }, beginQuery)?.end(1)
      }
      return 'done'
    })
  }
  for (const url of ['/loop', '/loop', '/allowed']) await app.inject(url)
  await app.profiler.settled()
  t.equal(lines.length, 1)
  t.match(JSON.parse(lines[0] ?? '{}').msg, /^GET \/loop: N\+1: 6 queries of one shape, .* \(profile /)
})
