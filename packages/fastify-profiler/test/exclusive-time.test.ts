import t from 'tap'
import fc from 'fast-check'
import { sliceTime, slowestCalls } from '../features/performance/exclusive-time.ts'
import { findingsOf, findingText } from '../features/performance/findings.ts'
import { lengthOf } from '../core/intervals.ts'
import type { BlockedTime, ConnectionWait, Profile, Span, SpanKind } from '../core/profile.ts'
import { exampleQuery, exampleUse, profile, span } from './views/example-profile.ts'

function operation(kind: SpanKind, changes: Partial<Span> = {}): Span {
  return span({ kind, hook: null, dispatchPoint: null, name: kind, ...changes })
}

function requestOf(spans: Span[], changes: Partial<Profile> = {}): Profile {
  return profile({ duration: 100, lifecycle: [], spans, database: null, ...changes })
}

const slicesOf = (of: Profile) => sliceTime(of).map(({ kind, start, end }) => `${kind} ${start}-${end}`)

const serialized: Array<[what: string, hooks: Array<[hook: string, start: number, duration: number]>, sent: string]> = [
  ['the function that sent the value', [], '20-70'],
  ['the last hook that gets the value', [['preSerialization', 25, 15]], '40-70'],
  [
    'that hook, and before the first that gets the text',
    [
      ['preSerialization', 25, 15],
      ['onSend', 60, 10],
    ],
    '40-60',
  ],
]

for (const [what, hooks, sent] of serialized) {
  t.test(`the serialization of JSON is the time after ${what}`, async t => {
    const handler = span({ kind: 'handler', hook: null, start: 10, duration: 10, outcome: 'replied' })
    const spans = [handler, ...hooks.map(([hook, start, duration]) => span({ hook, start, duration }))]
    const start = Math.min(70, ...hooks.map(([, start]) => start))
    const lifecycle = profile().lifecycle.map(point => ({ ...point, start, duration: 70 - start }))
    const of = (contentType: string) =>
      slicesOf(requestOf(spans, { lifecycle, response: { ...profile().response, contentType } })).join()
    t.match(of('application/json; charset=utf-8'), `serialization ${sent}`)
    t.notMatch(of('text/html'), 'serialization')
  })
}

for (const [title, spans, slices] of [
  [
    'a moment counts for the operation that runs, and for the function only when it waits for none',
    [
      span({ kind: 'handler', start: 10, duration: 80 }),
      operation('query', { parent: 0, start: 20, duration: 30 }),
      operation('cache', { parent: 0, start: 60, duration: 5 }),
    ],
    'unaccounted 0-10, handler 10-20, sql 20-50, handler 50-60, cache 60-65, handler 65-90, unaccounted 90-100',
  ],
  [
    'operations of one kind that run at once count once, and those of two kinds count as several',
    [
      operation('query', { start: 0, duration: 60 }),
      operation('query', { start: 10, duration: 30 }),
      operation('other', { start: 50, duration: 50 }),
    ],
    'sql 0-50, several 50-60, other 60-100',
  ],
  [
    'of two functions, the one that started last counts until it ends',
    [
      span({ start: 0, duration: 100 }),
      span({ kind: 'handler', start: 20, duration: 20 }),
      span({ kind: 'handler', start: 30, duration: 50 }),
    ],
    'hook 0-20, handler 20-30, handler 30-80, hook 80-100',
  ],
  [
    'a function that ends before one that started earlier leaves the moment to that one',
    [span({ start: 0, duration: 90 }), span({ kind: 'handler', start: 10, duration: 90 })],
    'hook 0-10, handler 10-100',
  ],
  [
    'what runs after the response does not count',
    [span({ start: 90, duration: 50 }), span({ start: 120, duration: 1 })],
    'unaccounted 0-90, hook 90-100',
  ],
] as const) {
  t.test(title, async t => t.equal(slicesOf(requestOf([...spans])).join(', '), slices))
}

const points = (...times: Array<[name: 'kernel.request' | 'kernel.controller' | 'kernel.response', start: number]>) =>
  times.map(([name, start]) => ({ name, hooks: [], start, duration: 10, listeners: [], interrupted: null }))

t.test('the time between the hooks is reading, if there is a body, and sending after the last one', async t => {
  const withBody = { ...profile().request, bodySize: 5 }
  const [request, controller, response] = points(
    ['kernel.request', 10],
    ['kernel.controller', 60],
    ['kernel.response', 40],
  )
  if (request === undefined || controller === undefined || response === undefined) return t.fail()
  for (const [lifecycle, changes, slices] of [
    [[response], {}, 'unaccounted 0-50, sending 50-100'],
    [[request, controller], { request: withBody }, 'unaccounted 0-20, reading 20-60, unaccounted 60-100'],
    [[request, controller], {}, 'unaccounted 0-100'],
    [[controller], { request: withBody }, 'reading 0-60, unaccounted 60-100'],
    [[{ ...response, start: null, duration: null }], {}, 'unaccounted 0-100'],
    [[{ ...response, start: 30, duration: null }], {}, 'unaccounted 0-30, sending 30-100'],
  ] as const) {
    t.equal(slicesOf(requestOf([], { lifecycle: [...lifecycle], ...changes })).join(', '), slices)
  }
})

t.test('each millisecond counts exactly once, whatever the spans', async () => {
  const number = fc.double({ min: -20, max: 150, noNaN: true })
  const kind = fc.constantFrom<SpanKind>('hook', 'handler', 'query', 'cache', 'other', 'validation')
  fc.assert(
    fc.property(
      fc.array(fc.tuple(kind, number, number)),
      fc.double({ min: 0, max: 100, noNaN: true }),
      (list, duration) => {
        const spans = list.map(([kind, start, duration]) => operation(kind, { start, duration }))
        const slices = sliceTime(requestOf(spans, { duration }))
        const total = slices.reduce((sum, { start, end }) => sum + end - start, 0)
        return Math.abs(total - duration) < 1e-6
      },
    ),
  )
})

t.test('periods that overlap count once', async t => {
  const [long, short] = [
    { start: 4, end: 10 },
    { start: 5, end: 6 },
  ]
  t.equal(lengthOf([long, { start: 0, end: 5 }, short]), 10)
})

const repeated = (count: number, changes: Partial<Span> = {}) =>
  Array.from({ length: count }, (_, n) =>
    operation('query', { name: 'select products', start: n * 2, duration: 1.5, ...changes }),
  )

t.test(
  'the slowest calls are functions without what they called, gaps, and operations with those of their line and statement',
  async t => {
    const of = requestOf([
      span({ kind: 'handler', name: 'show', start: 0, duration: 60 }),
      ...repeated(10, { parent: 0 }),
      span({ kind: 'handler', start: 60, duration: 10 }),
      ...repeated(1, { parent: 11, start: 61, detail: 'another statement' }),
      ...repeated(1, { parent: 11, start: 63, location: null }),
    ])
    t.same(
      slowestCalls(of, sliceTime(of)).map(({ kind, span, times, time, isPart }) => [
        kind,
        span?.name,
        times,
        time,
        isPart,
      ]),
      [
        ['handler', 'show', 1, 45, true],
        ['unaccounted', undefined, 1, 30, false],
        ['sql', 'select products', 10, 15, false],
        ['handler', 'setLocale', 1, 7, true],
        ['sql', 'select products', 1, 1.5, false],
        ['sql', 'select products', 1, 1.5, false],
      ],
    )
  },
)

t.test('a line that repeats a query five times is a finding', async t => {
  const found = (count: number) => {
    const of = requestOf(repeated(count), { duration: count * 2 })
    return findingsOf(of, sliceTime(of)).map(({ what, time }) => [what, time])
  }
  t.same(found(5), [['repeated', 7.5]])
  t.same(found(4), [])
  t.same(found(20), [['repeated', 30]], 'the same queries are not a slow call as well')
})

t.test('the repetitions that drivers tell of are findings, with their line', async t => {
  const location = { file: '/srv/a.ts', line: 1, column: 2 }
  const told = { sql: 'select', count: 3, duration: 4, locations: [location] }
  const of = requestOf(repeated(6), {
    duration: 12,
    database: exampleUse([], { duration: 12, repetitions: [{ kind: 'duplicate', ...told }] }),
  })
  t.same(findingsOf(of, sliceTime(of)), [
    { what: 'repeated', repetition: { kind: 'duplicate', ...told }, time: 4, location },
  ])
})

const waiting = (start: number, duration: number, pool: ConnectionWait['pool'] = null) => ({
  wait: { start, duration, pool },
})

t.test('the wait of a query for its connection is not query time, whether its span includes it or not', async t => {
  for (const [wait, slices] of [
    [waiting(20, 10), 'unaccounted 0-20, waiting 20-30, sql 30-50, unaccounted 50-100'],
    [waiting(10, 10), 'unaccounted 0-10, waiting 10-20, sql 20-50, unaccounted 50-100'],
    [waiting(5, 10), 'unaccounted 0-5, waiting 5-15, unaccounted 15-20, sql 20-50, unaccounted 50-100'],
  ] as const) {
    t.equal(slicesOf(requestOf([operation('query', { start: 20, duration: 30, ...wait })])).join(', '), slices)
  }
})

t.test('a query that runs while another waits counts as query time', async t => {
  const waits = operation('query', { start: 20, duration: 30, ...waiting(20, 10) })
  const slices = slicesOf(requestOf([waits, operation('query', { start: 0, duration: 25 })]))
  t.same(slices, ['sql 0-25', 'waiting 25-30', 'sql 30-50', 'unaccounted 50-100'])
})

const blocked = (starts: number | readonly number[], duration: number, by: string | null = null): Partial<Profile> => {
  const times: BlockedTime[] = [starts].flat().map(start => ({ start, duration, by }))
  return { eventLoop: { utilization: 1, active: 100, idle: 0, blocked: times } }
}

t.test(
  'the time in which the event loop was blocked is that of no query, unless the query itself blocked it',
  async t => {
    const handler = span({ kind: 'handler', start: 0, duration: 100 })
    const query = (start: number, duration: number) => operation('query', { parent: 0, start, duration })
    const { token } = profile()
    for (const [call, block, slices] of [
      [query(20, 70), blocked(30, 50), 'handler 0-20, sql 20-30, blocked 30-80, sql 80-90, handler 90-100'],
      [query(20, 70), blocked(30, 50, token), 'handler 0-20, sql 20-30, handler 30-80, sql 80-90, handler 90-100'],
      [query(30, 20), blocked(20, 50), 'handler 0-20, blocked 20-30, sql 30-50, blocked 50-70, handler 70-100'],
      [query(90, 10), blocked(20, 50), 'handler 0-20, blocked 20-70, handler 70-90, sql 90-100'],
    ] as const) {
      t.equal(slicesOf(requestOf([handler, call], block)).join(', '), slices)
    }
  },
)

t.test('what blocked the event loop is said with its share, and how to sample it if it was this request', async t => {
  const handler = span({ kind: 'handler', name: 'show', start: 0, duration: 100 })
  const textOf = (by: string | null) => {
    const of = requestOf([handler], blocked(20, 50, by))
    return JSON.stringify(findingsOf(of, sliceTime(of)).map(finding => findingText(finding, of.duration)))
  }
  const [own, unknown, other] = [profile().token, null, 'another'].map(textOf)
  t.match(own, /show: 100 ms, 100% of the request. It blocked the event loop for 50.0 ms\..*X-Profile: cpu/)
  t.match(unknown, /The event loop was blocked for 50.0 ms meanwhile, 50% of the request.*X-Profile: cpu/)
  t.match(other, /blocked for 50.0 ms meanwhile, 50% of the request.*another request .*another/)
  t.notMatch(other, 'X-Profile')
})

t.test('several blocks are told with the longest, and blocks without a pause between them are one', async t => {
  const handler = span({ kind: 'handler', start: 0, duration: 100 })
  for (const by of [profile().token, null, 'another']) {
    for (const [starts, said] of [
      [[0, 30, 60], /(?:loop|blocked) for 60.0 ms \(3 blocks, the longest 20.0 ms\)/],
      [[0, 20.001, 40.002], /(?:loop|blocked) for 60.0 ms(?! \()/],
    ] as const) {
      const of = requestOf([handler], blocked(starts, 20, by))
      const texts = findingsOf(of, sliceTime(of)).map(finding => findingText(finding, of.duration)[0])
      t.match(texts.join(' '), said)
    }
  }
})

t.test('many rows that a driver read while the event loop was blocked are named, with their query', async t => {
  const location = { file: '/app/rooms.js', line: 7, column: 3 }
  const database = exampleUse([exampleQuery(), exampleQuery({ blocked: 50, rows: 21_537, location })])
  const of = { ...requestOf([span({ kind: 'handler', start: 0, duration: 100 })], blocked(20, 50)), database }
  const found = findingsOf(of, sliceTime(of)).find(({ what }) => what === 'blocked')
  t.match(found?.location, location)
  t.match(JSON.stringify(found && findingText(found, of.duration)), /read the 21,537 rows of query 2/)
  const other = { ...of, eventLoop: { ...of.eventLoop, blocked: [{ start: 20, duration: 50, by: 'another' }] } }
  const blamed = findingsOf(other, sliceTime(other)).find(({ what }) => what === 'blocked')
  t.equal(blamed?.location, null, 'code of another request is not at the line of the query')
})

t.test('the cause of a wait is what the pool counted when it was asked, and nothing else', async t => {
  const idle = { option: 'idleTimeoutMillis', after: 10_000 }
  const pool = (open: number, free: number, waiting = 0) => ({ open, free, most: 2, waiting, closing: idle })
  for (const [counts, claim] of [
    [pool(0, 0), /^The pool had no open connection: opening one took 10.0 ms. Idle ones .* 10 s \(idleTimeoutMillis\)/],
    [pool(1, 0), /^The pool had no free connection: opening one took 10.0 ms/],
    [pool(2, 0, 3), /^Waited 10.0 ms for a connection: 2 of 2 in use, 3 waiting/],
    [pool(2, 1), null],
    [null, null],
    ['queue', /^Waited 10.0 ms for a connection that was busy with earlier queries/],
  ] as const) {
    const of = requestOf([operation('query', { start: 20, duration: 30, ...waiting(20, 10, counts) })])
    const waits = findingsOf(of, sliceTime(of)).filter(({ what }) => what === 'waited')
    const texts = waits.map(finding => findingText(finding, of.duration).join(' '))
    t.match(texts, claim === null ? { length: 0 } : [claim])
  }
})

t.test('a long wait in spite of a free connection says when it was free, and that its cause was not seen', async t => {
  const pool = { open: 2, free: 1, most: 2, waiting: 0, closing: null }
  const of = requestOf([operation('query', { start: 20, duration: 30, ...waiting(20, 25, pool) })])
  const [found] = findingsOf(of, sliceTime(of)).filter(({ what }) => what === 'waited')
  const said = found && findingText(found, of.duration).join(' ')
  t.match(said, /^Waited 25.0 ms for a connection, though one was free when the pool was asked\. Why was not seen\./)
})

t.test('a call that takes ten milliseconds and a seventh of its request is a finding', async t => {
  const found = (...durations: number[]) => {
    const of = requestOf(durations.map((duration, n) => span({ start: n * 20, duration, location: null })))
    return findingsOf(of, sliceTime({ ...of, duration: 60 })).map(({ what, time, location }) => [what, time, location])
  }
  t.same(found(18, 16, 9), [
    ['slow', 18, null],
    ['slow', 16, null],
  ])
})

t.test('no more than five findings are reported', async t => {
  const of = requestOf(Array.from({ length: 6 }, (_, n) => span({ start: n * 16, duration: 15.5 })))
  t.equal(findingsOf(of, sliceTime(of)).length, 5)
})
