import t from 'tap'
import fc from 'fast-check'
import { coveredTime, sliceTime, timeByKind, ownTime, gatherCalls } from '../features/performance/exclusive-time.ts'
import { findingsOf } from '../features/performance/findings.ts'
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
  const found = calls.map(({ ids, time }) => [ids, time])
  t.same(found, [
    [[0, 1, 2], 4.5],
    [[3], 1.5],
    [[4], 1.5],
  ])
})

t.test('the slowest calls are functions by themselves, operations with their repetitions, and gaps', async t => {
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

const repeatedPlace = { file: '/srv/a.ts', line: 1, column: 2 }
const told = { sql: 'select', count: 3, duration: 4, locations: [repeatedPlace] }
const hooks = (...durations: number[]) => durations.map((duration, n) => span({ start: n * 20, duration }))

for (const [title, request, found] of [
  ['a query that one line sends five times', requestOf(repeated(5), { duration: 10 }), ['repeated 7.5']],
  ['four times is not', requestOf(repeated(4), { duration: 8 }), []],
  ['twenty times is not a slow call as well', requestOf(repeated(20), { duration: 40 }), ['repeated 30']],
  [
    'the repetitions that drivers tell of',
    requestOf(repeated(6), {
      duration: 12,
      database: exampleUse([], { repetitions: [{ kind: 'duplicate', ...told }] }),
    }),
    ['repeated 4'],
  ],
  [
    'waiting a millisecond for a connection',
    requestOf([], { database: exampleUse([waiting(20, 10, null)]), duration: 20 }),
    ['waited 10'],
  ],
  [
    'a call of ten milliseconds and a seventh of its request',
    requestOf(hooks(18, 16, 9), { duration: 60 }),
    ['slow 18', 'slow 16'],
  ],
  ['most of the time unaccounted', requestOf(hooks(9)), ['unaccounted 91']],
  ['no more than five calls', requestOf(hooks(18, 18, 18, 18, 18, 18), { duration: 120 }), Array(5).fill('slow 18')],
] satisfies Array<[string, Profile, string[]]>) {
  t.test(`among the findings: ${title}`, async t => {
    const shown = findingsOf(request, sliceTime(request)).map(({ what, time }) => `${what} ${time}`)
    t.same(shown, found)
  })
}

t.test('a finding has the line of its calls, and a repetition its kind and count', async t => {
  const [loop] = findingsOf(requestOf(hooks(90)), sliceTime(requestOf(hooks(90))))
  t.match(loop, { what: 'slow', location: { file: /locale/ } })
  const of = requestOf([], { database: exampleUse([], { repetitions: [{ kind: 'duplicate', ...told }] }), duration: 4 })
  t.match(findingsOf(of, sliceTime(of)), [{ kind: 'duplicate', count: 3, location: repeatedPlace }])
})
