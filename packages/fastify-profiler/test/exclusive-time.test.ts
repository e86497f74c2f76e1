import t from 'tap'
import fc from 'fast-check'
import { coveredTime } from '../features/performance/exclusive-time.ts'
import { sliceTime, timeByKind } from '../features/performance/exclusive-time.ts'
import { findingsOf } from '../features/performance/findings.ts'
import { ownTime } from '../features/performance/exclusive-time.ts'
import { gatherCalls } from '../features/performance/exclusive-time.ts'
import { slowestCalls } from '../features/performance/exclusive-time.ts'
import type { Profile, Span, SpanKind } from '../core/profile.ts'
import { exampleQuery, exampleUse, profile, span } from './views/example-profile.ts'

function operation(kind: SpanKind, changes: Partial<Span> = {}): Span {
  return span({ kind, hook: null, dispatchPoint: null, name: kind, ...changes })
}

function requestOf(spans: Span[], changes: Partial<Profile> = {}): Profile {
  return profile({ duration: 100, lifecycle: [], spans, database: null, ...changes })
}

const slicesOf = (of: Profile) => sliceTime(of).map(({ kind, start, end }) => `${kind} ${start}-${end}`)

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
    'hook 0-20, handler 20-80, hook 80-100',
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

t.test('the kinds are sorted by their time, with what nobody worked on last', async t => {
  t.same(
    timeByKind(
      sliceTime(requestOf([span({ start: 70, duration: 10 }), operation('query', { start: 80, duration: 20 })])),
    ),
    [
      ['sql', 20],
      ['hook', 10],
      ['unaccounted', 70],
    ],
  )
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

t.test('the slices of a request with 100,000 spans add up to its duration', async t => {
  const spans = Array.from({ length: 100_000 }, (_, n) =>
    operation(n % 3 === 0 ? 'hook' : 'query', { start: n % 1000, duration: n % 70 }),
  )
  const slices = sliceTime(requestOf(spans, { duration: 1000 }))
  const total = slices.reduce((sum, { start, end }) => sum + end - start, 0)
  t.ok(Math.abs(total - 1000) < 0.001)
})

t.test('self time excludes nested spans, counts overlapping ones once, and is never negative', async t => {
  const spans = [
    span({ start: 0, duration: 10 }),
    span({ parent: 0, start: 1, duration: 4 }),
    span({ parent: 0, start: 3, duration: 4 }),
    span({ parent: 0, start: 4, duration: 1 }),
  ]
  const [first] = spans
  if (first === undefined) return t.fail()
  t.equal(ownTime(first, spans.slice(1)), 4)
  t.equal(ownTime(span({ duration: 1 }), [span({ duration: 5 })]), 0)
  t.equal(coveredTime([]), 0)
})

const repeated = (count: number, changes: Partial<Span> = {}) =>
  Array.from({ length: count }, (_, n) =>
    operation('query', { name: 'select products', start: n * 2, duration: 1.5, ...changes }),
  )

t.test('the calls that one line repeats are gathered, and others are not', async t => {
  const calls = gatherCalls([
    ...repeated(3),
    ...repeated(1, { detail: 'another statement' }),
    ...repeated(1, { location: null }),
    span({}),
  ])
  t.same(
    calls.map(({ ids, time }) => [ids, time]),
    [
      [[0, 1, 2], 4.5],
      [[3], 1.5],
      [[4], 1.5],
    ],
  )
})

t.test(
  'the slowest calls are functions without what they called, operations with their repetitions, and gaps',
  async t => {
    const of = requestOf([
      span({ kind: 'handler', name: 'show', start: 0, duration: 60 }),
      ...repeated(10, { parent: 0 }),
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
        ['unaccounted', undefined, 1, 40, false],
        ['sql', 'select products', 10, 15, false],
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
    database: exampleUse([], { repetitions: [{ kind: 'duplicate', ...told }] }),
  })
  t.same(findingsOf(of, sliceTime(of)), [
    { what: 'repeated', repetition: { kind: 'duplicate', ...told }, time: 4, location },
  ])
})

const waiting = (start: number, waited: number, duration: number | null) =>
  exampleQuery({ sql: 'select', start, waited, duration, rows: null })

t.test('the wait of a query for its connection is not SQL, whether its span includes it or not', async t => {
  const query = operation('query', { start: 20, duration: 30 })
  for (const [spans, queries, slices] of [
    [[query], [waiting(20, 10, 20)], 'unaccounted 0-20, waiting 20-30, sql 30-50, unaccounted 50-100'],
    [[query], [waiting(20, 10, 30)], 'unaccounted 0-10, waiting 10-20, sql 20-50, unaccounted 50-100'],
    [[], [waiting(20, 10, null), waiting(50, 0, 1)], 'unaccounted 0-10, waiting 10-20, unaccounted 20-100'],
  ] as const) {
    t.equal(slicesOf(requestOf([...spans], { database: exampleUse([...queries]) })).join(', '), slices)
  }
})

t.test('a query that runs while another waits counts as SQL', async t => {
  const database = exampleUse([waiting(20, 10, 20)])
  const spans = [operation('query', { start: 20, duration: 30 }), operation('query', { start: 0, duration: 25 })]
  t.same(slicesOf(requestOf(spans, { database })), ['sql 0-25', 'waiting 25-30', 'sql 30-50', 'unaccounted 50-100'])
})

t.test('waiting a millisecond for a connection is a finding', async t => {
  const of = requestOf([], { database: exampleUse([waiting(20, 10, null)]), duration: 20 })
  t.same(
    findingsOf(of, sliceTime(of)).map(({ what, time }) => [what, time]),
    [['waited', 10]],
  )
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

t.test('a request that spent most of its time unaccounted says so', async t => {
  const of = requestOf([span({ start: 0, duration: 9 })])
  t.same(
    findingsOf(of, sliceTime(of)).map(({ what, time }) => [what, time]),
    [['unaccounted', 91]],
  )
})

t.test('no more than five findings are reported', async t => {
  const of = requestOf(Array.from({ length: 6 }, (_, n) => span({ start: n * 16, duration: 15.5 })))
  t.equal(findingsOf(of, sliceTime(of)).length, 5)
})
