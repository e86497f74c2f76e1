import t from 'tap'
import type { Profile, Span } from '../core/profile.ts'
import { compare } from '../features/compare/compare.ts'
import { comparisonSentence, conclusionsOf } from '../features/compare/comparison-text.ts'
import { renderComparisonMarkdown } from '../features/compare/comparison-page.ts'
import { context, exampleUse, exception, profile, span } from './views/example-profile.ts'

const line = (line: number) => ({ file: '/srv/museum/routes/cart.ts', line, column: 5 })

/** Queries of one statement, one after another from a moment on. */
function queries(count: number, detail: string, place: number, start: number, each: number): Span[] {
  return Array.from({ length: count }, (_, index) =>
    span({
      kind: 'query',
      name: 'select products',
      hook: null,
      parent: 0,
      detail,
      location: line(place),
      start: start + index * each,
      duration: each,
    }),
  )
}

const handler = (duration: number) =>
  span({ kind: 'handler', name: 'GET /cart', hook: null, location: line(33), duration })

function request(duration: number, spans: Span[], changes: Partial<Profile> = {}): Profile {
  const sent = spans.filter(({ kind }) => kind === 'query')
  const time = sent.reduce((sum, { duration }) => sum + duration, 0)
  const database = exampleUse([], { count: sent.length, duration: time })
  return profile({ duration, lifecycle: [], spans: [handler(duration), ...spans], database, ...changes })
}

const looping = request(48, [
  ...queries(1, 'select * from carts where id = $1', 36, 1, 2),
  ...queries(20, 'select * from products where id = $1', 41, 4, 2),
])
const mended = request(6, [
  ...queries(1, 'select * from carts where id = $1', 36, 1, 2),
  ...queries(1, 'select * from products where id = any($1)', 43, 4, 1.5),
])

t.test('a new N+1 makes a request slower, and a mended one faster', async t => {
  const comparison = compare(mended, looping)
  t.equal(comparisonSentence(comparison), 'B is 42.0 ms slower, certain: 6.00 ms → 48.0 ms, 2 → 21 queries')
  t.match(conclusionsOf(comparison)[0], { tone: 'worse', claim: '1 × select products became 20.' })
  t.match(conclusionsOf(compare(looping, mended))[0], { tone: 'better', places: [line(43)] })
})

t.test('statements are compared by shape and line, whatever their values', async t => {
  const one = request(9, queries(2, "select * from a where b = 'x' and c in (1, 2, 3)", 36, 1, 2))
  const other = request(9, queries(3, "select *  from a where b = 'it''s' and c in (4)", 36, 1, 2))
  t.match(compare(one, other).statements, [
    { shape: 'select * from a where b = ? and c in (?)', location: line(36), a: { count: 2 }, b: { count: 3 } },
  ])
  t.match(compare(looping, mended).statements, [
    { shape: 'select * from products where id = ?', a: { count: 20, time: 40 }, b: null },
    { shape: 'select * from products where id = any(?)', a: null, b: { count: 1, time: 1.5 } },
    { shape: 'select * from carts where id = ?', a: { count: 1, time: 2 }, b: { count: 1, time: 2 } },
  ])
})

t.test('a query without a statement is compared by its name', async t => {
  const cache = span({ kind: 'query', name: 'get', hook: null, start: 1 })
  t.match(compare(request(3, []), request(3, [cache])).statements, [{ shape: 'get', a: null, b: { count: 1 } }])
})

t.test('a span is matched by kind, name and line, else without its line, else without its name', async t => {
  const call = (name: string, place: number) =>
    span({ kind: 'http', name, hook: null, location: line(place), start: 1 })
  const a = request(9, [call('GET 200', 10), call('POST 200', 20), call('PUT 200', 30)])
  const b = request(9, [call('GET 200', 10), call('POST 200', 21), call('PUT 503', 30)])
  const { spans } = compare(a, b)
  const names = spans.filter(pair => pair.a === null || pair.b === null).map(({ name }) => name)
  t.same(names, [])
  const found = spans.filter(({ change }) => change !== null)
  t.same(found, [])
})

t.test('a function has its own time, without that of the calls in it', async t => {
  const { spans } = compare(looping, mended)
  const found = spans.find(({ name }) => name === 'GET /cart')
  t.match(found, { isPart: true, a: { count: 1, time: 6 }, b: { count: 1, time: 2.5 } })
})

t.test('calls that only one request made are new or gone, with their number', async t => {
  const a = request(9, [span({ name: 'authenticate', start: 0, duration: 1 })])
  const claims = conclusionsOf(compare(a, request(9, []))).map(({ claim }) => claim)
  t.same(claims, ['Gone: authenticate.'])
  t.match(conclusionsOf(compare(request(9, []), a)), [{ claim: 'New: authenticate.', detail: 'none → 1.00 ms' }])
  const several = conclusionsOf(compare(request(9, []), request(9, queries(3, 'select 1', 9, 0, 1))))
  t.match(several, [{ claim: 'New: 3 × select products.' }])
})

t.test('headers are compared by name, without those that differ by nature', async t => {
  const headers = (...lines: Array<[string, string]>) => ({ ...profile().response, headers: lines })
  const a = request(9, [], {
    response: headers(['ETag', '"1"'], ['Vary', 'accept'], ['vary', 'cookie'], ['date', 'a']),
  })
  const b = request(9, [], { response: headers(['etag', '"2"'], ['vary', 'accept, cookie'], ['x-cache', 'miss']) })
  t.same(compare(a, b).values, [
    { name: 'etag', of: 'response', a: '"1"', b: '"2"' },
    { name: 'x-cache', of: 'response', a: null, b: 'miss' },
  ])
  t.equal(compare(a, b).equalHeaders, profile().request.headers.length + 1)
})

t.test('log lines are compared by level and message, whatever their numbers', async t => {
  const logged = (...messages: string[]) =>
    request(9, [], { logs: messages.map(message => ({ level: 40, start: 1, message, fields: {} })) })
  const comparison = compare(logged('product 7 is out of stock'), logged('product 8 is out of stock', 'no picture'))
  t.same(comparison.logs, [{ level: 40, message: 'no picture', a: 0, b: 1 }])
  t.match(conclusionsOf(comparison), [{ tone: 'warning', claim: '1 new warning in the log:', detail: 'no picture' }])
  t.match(conclusionsOf(compare(logged('a', 'a'), logged())), [
    { tone: 'better', claim: '2 warnings less in the log:' },
  ])
})

t.test('lines below a warning are no conclusion, and errors are called errors', async t => {
  const logged = (level: number) => request(9, [], { logs: [{ level, start: 1, message: 'said', fields: {} }] })
  t.same(conclusionsOf(compare(request(9, [], { logs: [] }), logged(30))), [])
  t.match(conclusionsOf(compare(request(9, [], { logs: [] }), logged(50))), [{ claim: '1 new error in the log:' }])
})

t.test('statuses and exceptions that differ come first', async t => {
  const [ok, failed] = [
    request(9, [], { logs: [] }),
    request(9, [], { status: 500, logs: [], exceptions: [exception()] }),
  ]
  t.match(conclusionsOf(compare(ok, failed)), [
    { tone: 'worse', claim: '200 OK became 500 Internal Server Error.' },
    { tone: 'worse', claim: 'A new exception:', detail: 'MuseumError: Museum 7 could not be shown' },
  ])
  t.match(conclusionsOf(compare(failed, ok)), [{ tone: 'better' }, { tone: 'better', claim: 'An exception is gone:' }])
  t.match(conclusionsOf(compare(ok, request(9, [], { status: 304, logs: [] }))), [{ tone: 'neutral' }])
  t.same(compare(failed, failed).exceptions, [])
})

t.test('the Markdown has the sentence, the conclusions and the tables', async t => {
  const markdown = renderComparisonMarkdown(compare(looping, { ...mended, logs: [], status: 404 }), context(profile()))
  t.match(markdown, /^# B is 42\.0 ms faster, certain: 48\.0 ms → 6\.00 ms, 21 → 2 queries\n/)
  t.match(
    markdown,
    '- 20 × select products became 1. 40.0 → 1.50 ms, that is 92% of the difference `routes/cart.ts:43:5`',
  )
  t.match(markdown, '| + `select * from products where id = any(?)` | `routes/cart.ts:43:5` |  |  | 1 | 1.50 |')
  t.match(markdown, '| − `select * from products where id = ?` | `routes/cart.ts:41:5` | 20 | 40.0 |  |  |')
  t.match(markdown, '## Log lines')
  const bare = profile({ database: null, spans: [], lifecycle: [] })
  const answered = { ...bare, response: { ...bare.response, headers: [['x-cache', 'hit'] as [string, string]] } }
  t.match(renderComparisonMarkdown(compare(bare, answered), context(bare)), '| `x-cache` | none | + `hit` |')
})
