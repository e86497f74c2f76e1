import t from 'tap'
import { type ProfileSummary, type SortOrder, sortOrders, type Trouble } from '../core/summary.ts'
import '../features/index.ts'
import { summarise } from '../core/store/profile-writer.ts'
import { repetitionsOf, statementTotals } from '../features/queries/recorded-queries.ts'
import { exceptionTable, routeTable, statementTable, troublesLately } from '../features/home/lately.ts'
import { overviewOf } from '../features/home/overview.ts'
import { foldPolls, matcherOf, pageOf } from '../core/store/search.ts'
import { blocksMarkdown } from '../core/view/block.ts'
import { readSearch } from '../features/home/search-criteria.ts'
import { readWords, wordsOf } from '../features/home/search-words.ts'
import { statementShape } from '../core/statement-shape.ts'
import { fakeClock } from './fake-clock.ts'
import { exampleQuery, exampleUse, profile, summary } from './views/example-profile.ts'

const minute = 60_000

let made = 0

function requestOf(changes: Partial<ProfileSummary> = {}): ProfileSummary {
  return { ...summary(profile()), token: `token-${made++}`, time: 10 * minute, exception: null, ...changes }
}

const overview = (...summaries: ProfileSummary[]) => overviewOf(summaries, 0, 12 * minute)

t.test('requests are counted with their failures, refusals and quantiles', async t => {
  const found = overview(
    ...Array.from({ length: 20 }, (_, n) => requestOf({ duration: n + 1 })),
    requestOf({ status: 404 }),
    requestOf({ status: 500 }),
    requestOf({ status: null }),
  )
  t.match(found, { requests: 23, failed: 1, refused: 1, p95: 24.6 })
  t.match(found.routes, [{ method: 'GET', route: '/museums/:id', count: 23, p50: 12, p95: 24.6, worst: 24.6 }])
})

t.test('only requests of the period count', async t => {
  const old = requestOf({ time: 1 })
  t.equal(overviewOf([old, requestOf(), requestOf({ time: 99 * minute })], 5 * minute, 12 * minute).requests, 1)
  t.match(overviewOf([], 0, 1), { requests: 0, p95: 0, routes: [], statements: [], exceptions: [] })
})

t.test('routes that fail come first, then those that take most time, and unmatched requests are one row', async t => {
  const found = overview(
    requestOf({ route: '/quick', duration: 1 }),
    requestOf({ route: '/slow', duration: 100 }),
    requestOf({ route: '/broken', status: 500, exception: 'Error: second', time: 9 * minute }),
    requestOf({ route: '/broken', status: 500, exception: 'Error: first', time: 8 * minute }),
    requestOf({ route: null, url: '/a' }),
    requestOf({ route: null, url: '/b', method: 'POST' }),
  )
  const shown = found.routes.map(({ method, route, count }) => [method, route, count])
  t.same(shown, [
    ['GET', '/broken', 2],
    ['GET', '/slow', 1],
    ['', null, 2],
    ['GET', '/quick', 1],
  ])
  t.match(found.routes[0], { failed: 2, reasons: [{ detail: 'Error: second', count: 1 }, { detail: 'Error: first' }] })
})

t.test('a route has the number of queries of the request that sent most', async t => {
  const queries = (count: number) => requestOf({ queries: { count, duration: 1 } })
  const { routes } = overview(queries(0), queries(0), queries(7), queries(0), queries(3))
  t.match(blocksMarkdown([routeTable(routes, '')], ''), /\| Most queries \|\n.*\n.*\| 7 \|$/)
})

const trouble = (what: Trouble['what'], changes: Partial<Trouble> = {}): Trouble => ({
  what,
  claim: what,
  detail: '',
  location: { file: '/srv/cart.ts', line: 7, column: 3 },
  ...changes,
})

t.test('troubles of one kind and line are counted once a request, as the newest tells, failures first', async t => {
  const repeated = [trouble('repeated', { claim: 'old' }), trouble('repeated')]
  const found = overview(
    requestOf({ troubles: repeated, time: 8 * minute }),
    requestOf({ troubles: [trouble('repeated'), trouble('failed query')], token: 'newest' }),
    requestOf({ troubles: [trouble('repeated', { location: null })], time: 9 * minute }),
    requestOf({ time: 7 * minute }),
  )
  t.match(found.routes[0], { token: 'newest' })
  t.match(found.routes[0]?.troubles, [
    { what: 'failed query', count: 1, token: 'newest' },
    { what: 'repeated', count: 2, claim: 'repeated', token: 'newest' },
    { what: 'repeated', count: 1, location: null },
  ])
})

t.test('of half of the requests or one long one, times are a trouble', async t => {
  const slow = (time: number) => requestOf({ troubles: [trouble('slow', { time })] })
  for (const [isTold, ...requests] of [
    [true, slow(30), slow(30), requestOf(), requestOf()],
    [false, slow(30), slow(30), requestOf(), requestOf(), requestOf()],
    [false, slow(30)],
    [true, slow(120)],
  ] as const) {
    t.equal(overview(...requests).routes[0]?.troubles.length, Number(isTold))
  }
})

t.test('a crash, then the first trouble of each kind, comes before all others, with its line', async t => {
  const of = (route: string, ...troubles: Trouble[]) => requestOf({ route, troubles })
  const found = troublesLately(
    overview(
      of('/a', trouble('repeated')),
      of('/b', trouble('repeated', { location: null })),
      of('/c', trouble('row')),
    ),
    '',
  )
  const claims = blocksMarkdown([{ findings: found }], '').match(/GET .*? in 1 of 1 requests/g)
  t.same(claims, [
    'GET /a: repeated, in 1 of 1 requests',
    'GET /c: row, in 1 of 1 requests',
    'GET /b: repeated, in 1 of 1 requests',
  ])
  t.match(found[0], { places: [{ line: 7 }] })
  const [first] = troublesLately(overview(of('/a', trouble('failed query')), of('/b', trouble('crash'))), '')
  t.match(first, { route: 'GET /b', what: 'crash', tone: 'error' })
})

t.test('a trouble that several routes share is told once, and troubles that only share a line are not', async t => {
  const of = (route: string, claim: string, detail = '') =>
    requestOf({ route, troubles: [trouble('blocked', { claim, detail })], status: 500, exception: 'Error: no' })
  const shared = [of('/a', 'auth blocked 62.1 ms'), of('/b', 'auth blocked 60 ms (2 blocks)')]
  const found = troublesLately(overview(...shared, of('/b', 'auth blocked 5.9 ms'), of('/c', 'auth', 'other')), '')
  const text = blocksMarkdown([{ findings: found.filter(({ what }) => what === 'blocked') }], '')
  t.match(text, /^- GET \/b: .*, in 2 of 2 requests\. 2 routes have it, this one most often\..*\n- GET \/c: [^\n]*$/)
  t.equal(found.filter(({ what }) => what === 'fails').length, 3, 'without a line, failures are told for each route')
})

t.test('a route that fails for different reasons tells most of them, and how many others there are', async t => {
  const failed = (exception: string | null, column: number, detail = '') =>
    requestOf({
      route: '/a',
      status: 500,
      exception,
      thrownAt: `/srv/cart.ts:7:${column}`,
      ...(detail !== '' && { troubles: [trouble('fails', { claim: '', detail })] }),
      token: exception?.slice(0, 9) ?? 'silent',
    })
  const text = (...requests: ProfileSummary[]) =>
    blocksMarkdown([{ findings: troublesLately(overview(...requests), '') }], '')
  const full = Array.from({ length: 3 }, () => failed('Error: disk is full', 3, 'Error: disk is full'))
  const typed = failed('TypeError: no function', 9, 'TypeError: no function')
  t.match(text(...full), /fails: \[?3 of 3.*Error: disk is full `/)
  t.match(
    text(typed, ...full),
    /fails: \[?4 of 4.*Error: disk is full\. 1 other: TypeError: no function .*cart\.ts:7:3.*`Error: di`/,
  )
  t.match(text(typed, failed('RangeError: 9', 1), ...full), /Error: disk is full\. 2 others, such as TypeError: no/)
  t.match(text(failed(null, 3), ...full), /Error: disk is full\. 1 other: No exception was seen/)
})

t.test('errors without a message are one row a line', async t => {
  const at = (line: number) => requestOf({ exception: 'Error', thrownAt: `/srv/cart.ts:${line}:3`, status: 500 })
  t.match(overview(at(7), at(7), at(9)).exceptions, [{ count: 2 }, { count: 1 }])
})

t.test('rows past the bound are left out, and counted', async t => {
  const { left, routes } = overview(...Array.from({ length: 210 }, (_, n) => requestOf({ route: `/${n}` })))
  t.match({ left, listed: routes.length }, { left: { routes: 10, statements: 0 }, listed: 200 })
})

t.test('each row has the token of a request to look at', async t => {
  const statements = (duration: number) => ({
    statements: [{ sql: 'select a', count: 1, duration, slowest: duration }],
  })
  const requests = [
    requestOf({ token: 'quick', duration: 1, ...statements(1) }),
    requestOf({ token: 'slow', duration: 90, ...statements(9) }),
    requestOf({ token: 'quicker', duration: 2, ...statements(2) }),
  ]
  t.match(overview(...requests), { routes: [{ token: 'slow' }], statements: [{ token: 'slow' }] })
  const loop = requestOf({ token: 'loop', duration: 3, troubles: [trouble('repeated')] })
  t.match(overview(...requests, loop).routes, [{ token: 'loop' }])
  const failed = requestOf({ token: 'failed', status: 500, exception: 'Error: no', duration: 1 })
  t.match(overview(...requests, loop, failed), { routes: [{ token: 'failed' }], exceptions: [{ token: 'failed' }] })
})

const many = (count: number, ...durations: number[]) => Array.from({ length: count }, () => durations).flat()

t.test('a route is slower since the moment from which three quarters of its requests take longer', async t => {
  const series = (...durations: number[]) =>
    overview(
      ...durations.map((duration, n) => requestOf({ duration, time: n * 1000, times: [['handler', duration / 2]] })),
    ).routes[0]?.slower ?? null
  const found = series(...many(16, 10), ...many(16, 80))
  t.same(found, { since: 16_000, before: 10, after: 80, kind: { name: 'handler', before: 5, after: 40 } })
  for (const durations of [
    many(30, 10),
    [...many(15, 80), ...many(15, 10)],
    many(15, 10, 80),
    [...many(15, 10), ...many(9, 80)],
    [...many(15, 1), ...many(15, 5)],
    [...many(15, 10, 80), ...many(10, 10, 80, 80)],
  ]) {
    t.equal(series(...durations), null)
  }
})

t.test('the times of a slower route and of what grew most are medians, so no part exceeds the whole', async t => {
  const mixed = [10, 10, 300, ...many(9, 10), ...many(11, 300), 10].map((duration, n) =>
    requestOf({
      duration,
      time: n * 1000,
      times: [
        ['http', duration * 0.8],
        ['handler', duration * 0.2],
      ],
    }),
  )
  const text = blocksMarkdown([{ findings: troublesLately(overview(...mixed), '') }], '')
  t.match(text, /got slower: p50 10\.0 → 300 ms since .*\. HTTP: p50 8\.00 → 240 ms\./)
})

t.test('statements are summed over all requests, most time first, with their slowest query', async t => {
  const statements = (sql: string, count: number, duration: number, slowest = duration) => ({
    statements: [{ sql, count, duration, slowest }],
  })
  t.match(
    overview(
      requestOf(statements('select a', 10, 10)),
      requestOf(statements('select a', 20, 30, 28)),
      requestOf(statements('select a', 10, 10)),
      requestOf(statements('select b', 1, 90)),
    ).statements,
    [
      { sql: 'select b', count: 1, p50: 90, worst: 90 },
      { sql: 'select a', count: 40, p50: 10, p95: 30, worst: 28 },
    ],
  )
})

t.test('exceptions of one class and line are one row, and of two lines two', async t => {
  const at = (line: number, message: string) =>
    requestOf({ exception: `OrderError: ${message}`, thrownAt: `/srv/cart.ts:${line}:3` })
  t.match(overview(at(7, 'order of Ann'), at(7, 'order of Bob'), at(9, 'order of Ann')).exceptions, [
    { count: 2, thrownAt: '/srv/cart.ts:7:3' },
    { count: 1, thrownAt: '/srv/cart.ts:9:3' },
  ])
})

t.test('a row of exceptions shows the newest that failed, and says how many messages its line has', async t => {
  const rowOf = (...thrown: ReadonlyArray<readonly [status: number, message: string]>) => {
    const requests = thrown.map(([status, message], n) =>
      requestOf({
        status,
        exception: `Error: ${message}`,
        thrownAt: '/srv/api-error.ts:3:61',
        token: message,
        time: n,
      }),
    )
    return blocksMarkdown([exceptionTable(overview(...requests).exceptions, '')], '').split('\n')[2]
  }
  const ids = ['User 1 not found', 'User 64b7f0c2 not found', 'User c0ffee00-beef-4abc-8def-feedfacecafe not found']
  t.match(
    rowOf(
      [500, 'Disk is full'],
      [429, 'Rate limited'],
      [402, 'Card was declined'],
      ...ids.map(id => [404, id] as const),
    ),
    /^\| Error: Disk is full \(1 of 4 messages\) api-error\.ts:3:61 \| `Disk is full` \| 6 \|/,
  )
  t.match(
    rowOf(...ids.map(id => [404, id] as const)),
    /^\| Error: User c0ffee.* not found api-error\.ts:3:61 \| .* \| 3 \|/,
  )
})

t.test('exceptions that differ in numbers only are one row, and those that failed come first', async t => {
  t.match(
    overview(
      requestOf({ exception: 'NotFound: no route for /a/1', status: 404 }),
      requestOf({ exception: 'NotFound: no route for /a/2', status: 404 }),
      requestOf({ exception: 'OrderError: order 7', status: 500, time: 5 * minute }),
      requestOf({ exception: 'OrderError: order 8', status: 500, time: 6 * minute }),
      requestOf({ exception: 'OrderError: order 9', status: 500, time: 4 * minute }),
    ).exceptions,
    [
      { exception: 'OrderError: order 8', count: 3, fails: true, last: 6 * minute },
      { exception: 'NotFound: no route for /a/1', count: 2, fails: false },
    ],
  )
})

t.test(
  'long statements are rows of their own wherever they differ, each with its end and its own requests',
  async t => {
    const columns = Array.from({ length: 30 }, (_, n) => `"Museum"."column${n}"`).join(', ')
    const sent = [
      `select ${columns} from museums where id = $1`,
      `select ${columns} from museums where city = $1`,
      `select ${columns.replace('column15', 'column51')} from museums where id = $1`,
    ]
    const requests = sent.map(sql => requestOf({ statements: statementTotals(exampleUse([query(sql, 1)])) }))
    const { statements } = overview(...requests, ...requests.slice(0, 1))
    const counts = statements.map(({ count }) => count)
    t.same(counts, [2, 1, 1])
    const table = blocksMarkdown([statementTable(statements, '/debug')], '')
    t.match(table, /where id = \?`.*\n.*where city = \?`.*\n.*where id = \?`/)
    for (const [index, row] of table.split('\n').slice(2, 5).entries()) {
      const [, head = '', left = '', tail = ''] = /`(.*)… \((\d+) more characters\) …(.*?)`/.exec(row) ?? []
      t.equal(head.length + Number(left) + tail.length, statementShape(sent[index] ?? '').length)
    }
    for (const [index, { sql }] of statements.entries()) {
      const { criteria } = readSearch(new URLSearchParams({ statement: sql }), { labels: [], panels: [] })
      t.same(requests.filter(matcherOf(criteria)), [requests[index]])
    }
  },
)

t.test('a statement that an earlier version has cut is still a row', async t => {
  const sql = `select ${'a, '.repeat(80)}`.slice(0, 200)
  const old = requestOf({ statements: [{ sql, count: 3, duration: 1, slowest: 1 }] })
  const { statements } = overview(old)
  t.match(statements, [{ sql, count: 3 }])
  t.match(blocksMarkdown([statementTable(statements, '')], ''), /`select a, .*… \(\d+ more characters\)`/)
})

const query = (sql: string, duration: number | null) => exampleQuery({ sql, duration, rows: null })

t.test('a summary has the statements that took most time, and how often one was repeated', async t => {
  const listed = exampleUse([query('a', 1), query('b', 5), query('a', 2), query('c', null)])
  t.same(statementTotals(listed), [
    { sql: 'b', count: 1, duration: 5, slowest: 5 },
    { sql: 'a', count: 2, duration: 3, slowest: 2 },
    { sql: 'c', count: 1, duration: 0, slowest: 0 },
  ])
  t.equal(statementTotals(exampleUse(Array.from({ length: 9 }, (_, n) => query(`t${n}`, 1)))).length, 5)
  const statements = [{ sql: 'a', count: 5000, duration: 900, slowest: 40 }]
  t.same(statementTotals({ ...listed, statements }), statements, 'those of all queries, if not all are listed')
  const { database } = profile()
  if (database === null) return t.fail()
  const told = { sql: 'a', duration: 1, locations: [] }
  const repetitions = [
    { ...told, kind: 'loop' as const, count: 7 },
    { ...told, kind: 'loop' as const, count: 3 },
    { ...told, kind: 'duplicate' as const, count: 9 },
  ]
  t.same(repetitionsOf({ database: { ...database, repetitions } }), { repeated: 7 })
  t.match(summarise(profile({ database: null })), { statements: [], repeated: 0, size: 5120 })
  const found = summarise(profile({ database: null })).times.map(([kind]) => kind)
  t.same(found, ['sql', 'hook', 'handler', 'sending', 'cache', 'unaccounted'])
})

t.test('under load the troubles of some requests are told, and a silent failure always is', async t => {
  fakeClock(t)
  const { database } = profile()
  const loop = { kind: 'loop' as const, sql: 'select 1', count: 7, duration: 9, locations: [] }
  const slow = profile({ database: { ...(database ?? exampleUse([])), repetitions: [loop] } })
  const requests = Array.from({ length: 300 }, (_, n) => requestOf(summarise({ ...slow, token: `loop-${n}` })))
  const use = exampleUse([exampleQuery({ error: 'gone' })])
  const swallowed = summarise({ ...slow, database: { ...use, failed: 1 } })
  const { routes } = overview(...[...requests, requestOf(swallowed)].map(each => ({ ...each, time: minute })))
  const texts = troublesLately({ routes }, '').map(({ claim }) => JSON.stringify(claim))
  t.match(
    texts.find(text => text.includes('query failed')),
    /"1 of (?:1?\d|2[01])".*examined requests/,
  )
  t.ok(texts.some(text => text.includes('N+1')))
})

const every = (seconds: number, count: number, changes: Partial<ProfileSummary> = {}) =>
  Array.from({ length: count }, (_, n) => requestOf({ url: '/health', time: minute - n * seconds * 1000, ...changes }))

t.test('equal requests at regular intervals are one row, the newest', async t => {
  const found = [...every(5, 12), requestOf({ url: '/other' })]
  const { profiles, polls } = foldPolls(found)
  const urls = profiles.map(({ url }) => url)
  t.same(urls, ['/health', '/other'])
  t.same(Object.values(polls), [12])
})

t.test('requests that are few, irregular, in a burst or failing are not folded', async t => {
  for (const found of [
    every(5, 9),
    every(0, 30),
    every(5, 12, { status: 500 }),
    every(5, 12, { status: null }),
    every(5, 12, { exception: 'Error: no' }),
    every(5, 20).map((summary, n) => ({ ...summary, time: 1e9 - n ** 3 * 1000 })),
    [],
  ]) {
    t.equal(foldPolls(found).profiles.length, found.length)
  }
})

t.test('only a list of all requests by time folds them', async t => {
  t.equal(pageOf({ perPage: 20 }, every(5, 12)).profiles.length, 1)
  t.equal(pageOf({ url: '/health' }, every(5, 12)).profiles.length, 12)
})

t.test('a search can be sorted by duration, queries, their time, size and age', async t => {
  const one = requestOf({ token: 'one', time: 2, duration: 3, queries: { count: 1, duration: 9 }, size: null })
  const two = requestOf({ token: 'two', time: 1, duration: 2, queries: { count: 5, duration: 1 }, size: 0 })
  const first = (sort: SortOrder) => pageOf({ sort }, [one, two]).profiles[0]?.token
  t.same(sortOrders.map(first), ['one', 'two', 'one', 'two', 'two'])
})

t.test('requests are found by an exact route, a number of queries, a statement and any words', async t => {
  const request = requestOf({
    route: '/cart',
    queries: { count: 12, duration: 1 },
    statements: [{ sql: 'select * from Products', count: 1, duration: 1, slowest: 1 }],
    exception: 'OrderError: no',
    labels: { license: 'Louvre' },
  })
  for (const [isFound, list] of [
    [
      true,
      [
        { route: '=/cart' },
        { route: 'car' },
        { sql: '>10' },
        { sql: '12' },
        { sql: '<=12' },
        { statement: 'from products' },
        { text: 'museums ordererror louvre' },
        { text: '' },
        { sql: '' },
      ],
    ],
    [false, [{ route: '=/car' }, { sql: '<12' }, { sql: '>=13' }, { statement: 'users' }, { text: 'museums other' }]],
  ] as const) {
    for (const criteria of list) t.equal(matcherOf(criteria)(request), isFound, JSON.stringify(criteria))
  }
  t.ok(matcherOf({ route: '=' })(requestOf({ route: null })))
})

const read = (q: string) => readSearch(new URLSearchParams({ q }), { labels: ['license'], panels: [] })

t.test('the search box understands fields, durations, quotes, labels and free words', async t => {
  t.same(
    read('status:5xx route:/x slower:1.5s faster:2000 sql:>10 License:"Le Louvre" monet "water lilies"').criteria,
    {
      status: '5xx',
      route: '/x',
      durationFrom: 1500,
      durationTo: 2000,
      sql: '>10',
      labels: { license: 'Le Louvre' },
      text: 'monet water lilies',
    },
  )
  t.same(read('http://localhost/a status: a:b').criteria, { text: 'http://localhost/a status: a:b' })
  t.same(read('').criteria, {})
})

t.test('an invalid field in the search box is reported, and the others count', async t => {
  const { criteria, problems } = read('status:odd sql:many slower:soon method:GET')
  t.same(criteria, { method: 'GET' })
  t.equal(problems.length, 3)
  t.match(readSearch(new URLSearchParams('sort=odd&period=odd'), { labels: [], panels: [] }).problems, [
    'sort takes duration, sql, sqlTime, size, oldest, not "odd".',
    'period takes 15min, 1h, all, not "odd".',
  ])
})

t.test('a problem with a field is told by the name that was written', async t => {
  const { problems } = read('slower:soon until:never license:a license:b faster:1 slower:5')
  t.match(problems.join(' '), /slower is given 2 times.* slower takes .* until takes .* license is given 2 times/)
  t.same(read('slower:5 faster:1').problems, ['slower is greater than faster, so nothing can match.'])
})

t.test('a field of the search box that is nearly one is asked about, and searched for as text', async t => {
  const { criteria, problems } = read('rout:/x Licence:Louvre http://localhost a:b slowr:10')
  t.same(criteria, { text: 'rout:/x Licence:Louvre http://localhost a:b slowr:10' })
  t.match(problems, [/“rout:”. Did you mean route:\?/, /“Licence:”. Did you mean license:\?/, /slower:\?/])
  t.equal(problems.length, 3)
})

t.test('a word that looks like a field but is none is searched for as text, and said to be', async t => {
  const { criteria, problems } = read('"no:field" foo:bar path:/x')
  t.same(criteria, { text: 'no:field foo:bar path:/x' })
  t.same(problems, [
    'There is no filter “foo:”. The word was searched as text.',
    'There is no filter “path:”. The word was searched as text.',
  ])
  for (const text of [
    'http://a/b',
    'localhost:3000',
    'redis://db',
    'gone:',
    '/batch:run',
    'until 09:30:00',
    'a.js:3:4',
  ]) {
    t.same(read(text).problems, [], text)
  }
})

t.test('the fields of the form and the search box can be combined', async t => {
  const { criteria } = readSearch(new URLSearchParams('status=404&q=slower:5ms&sort=size&period=1h'), {
    labels: [],
    panels: [],
  })
  t.same(criteria, { status: '404', durationFrom: 5, sort: 'size' })
})

t.test('a search is written in words that mean the same', async t => {
  const words =
    'status:5xx method:GET route:/x exception:"no such" sql:>10 slower:5ms faster:9ms license:"Le Louvre" a b'
  t.equal(wordsOf(read(words).criteria), words)
  t.match(wordsOf({ timeFrom: 0, timeTo: 1000 }), 'since:1970-01-01T00:00:00.000Z until:1970-01-01T00:00:01.000Z')
  t.equal(wordsOf({ url: '', host: 'a"b c' }), 'host:"ab c"')
  t.same([...readWords('since:2026-11-23', [])], [['timeFrom', '2026-11-23']])
})

t.test('hostile words are words', async t => {
  for (const hostile of ['__proto__:x', 'constructor:x', '"', '"""', ':', ':::', 'x'.repeat(10_000), '\0']) {
    t.type(read(hostile).criteria, 'object')
  }
})
