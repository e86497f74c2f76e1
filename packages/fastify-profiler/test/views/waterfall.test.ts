import t from 'tap'
import { sliceTime } from '../../features/performance/exclusive-time.ts'
import type { Profile, Span } from '../../core/profile.ts'
import { foldThreshold, waterfallScale, waterfallRows } from '../../features/performance/waterfall.ts'
import { renderWaterfall } from '../../features/performance/waterfall.ts'
import { context, exampleUse, profile, span } from './example-profile.ts'

const rowsOf = (of: Profile, threshold = 0) => waterfallRows(of, sliceTime(of), threshold, of.duration)
const names = (of: Profile) =>
  rowsOf(of).map(({ depth, kind, spans }) => `${'·'.repeat(depth)}${spans[0]?.name ?? kind}`)

function requestOf(spans: Span[], changes: Partial<Profile> = {}): Profile {
  return profile({ duration: 100, lifecycle: [], spans, ...changes })
}

const query = (start: number, changes: Partial<Span> = {}): Span =>
  span({ kind: 'query', hook: null, plugin: null, name: 'select t', detail: 'select * from t', start, ...changes })

function waterfall(spans: Span[], threshold = 0, changes: Partial<Profile> = {}): string {
  return String(renderWaterfall(context(requestOf(spans, changes)), threshold))
}

t.test('what ran is listed in order, what it called below it, and gaps in between', async t => {
  t.same(names(profile()), [
    'unaccounted',
    'lookUpLicense',
    '·license',
    '·select licenses',
    'unaccounted',
    'setLocale',
    'unaccounted',
    'checkAccess',
    'unaccounted',
    'validation',
    'unaccounted',
    'loadUser',
    'unaccounted',
    'showMuseum',
    '·select museums',
    '·select platforms',
    'unaccounted',
    'renewCookie',
    'unaccounted',
    'sending',
    'closeProfile',
    'sending',
  ])
})

t.test('repetitions of a query are one line with its number and time, and a mark if they are a finding', async t => {
  const location = { file: '/app/rooms.js', line: 7, column: 3 }
  const loop = { kind: 'loop' as const, sql: 'select * from t', count: 6, duration: 6, locations: [location] }
  const spans = [span({ duration: 100 }), ...[0, 10, 20, 30, 40, 50].map(n => query(n, { parent: 0, location }))]
  const text = waterfall(spans, 0, { database: { ...exampleUse([]), repetitions: [loop] } })
  t.match(text, /<b>6 ×<\/b> <span class="sr-only">query: <\/span>select t/)
  t.match(text, /N\+1.*<td class="number">6\.00</s)
  t.equal(text.match(/<rect class="sql"/g)?.length, 6)
  t.notMatch(waterfall(spans, 0, { database: exampleUse([]) }), 'N+1')
  for (const kind of ['duplicate', 'writes'] as const) {
    t.notMatch(waterfall(spans, 0, { database: { ...exampleUse([]), repetitions: [{ ...loop, kind }] } }), 'N+1', kind)
  }
})

t.test('bars that overlap or cannot be told apart are drawn as one piece', async t => {
  const pieces = (spans: Span[]) => Number(waterfall(spans).match(/<rect class="sql"/g)?.length)
  const many = Array.from({ length: 100 }, (_, n) => query(n / 100, { duration: 0.001 }))
  t.ok(pieces([span({ duration: 100 }), ...many]) < 20)
  t.equal(pieces([query(0, { duration: 50 }), query(20, { duration: 60 })]), 1)
})

t.test('what is shorter than the threshold is folded, and the fold says what and how much', async t => {
  const text = waterfall(
    [
      span({ duration: 50 }),
      span({ start: 50, duration: 0.4 }),
      query(51, { duration: 0.2 }),
      span({ kind: 'cache', hook: null, start: 52, duration: 0.1 }),
      span({ kind: 'other', hook: null, start: 53, duration: 0.1 }),
      span({ kind: 'not-found-handler', hook: null, start: 54, duration: 46 }),
    ],
    1,
  )
  t.match(text, /<summary>1 hook, 4 gaps, 1 query, 1 cache call, 1 other call, each under 1\.00 ms, [\d.]+ ms together/)
})

t.test('a short function stays in sight with a long call in it, or if it failed', async t => {
  t.notMatch(waterfall([span({ duration: 0.5 }), query(0, { parent: 0, duration: 100 })], 1), '<details')
  t.notMatch(waterfall([span({ duration: 0.5, outcome: 'threw' }), span({ duration: 100 })], 1), '<details')
})

t.test('an unusual outcome of a span is shown', async t => {
  const text = waterfall([
    span({ outcome: 'threw', plugin: null, location: null }),
    span({ outcome: 'unfinished' }),
    span({ outcome: 'replied', location: null, routeLevel: true }),
    span({ kind: 'handler', hook: null, outcome: 'replied' }),
  ])
  t.match(text, /badge error">threw.*badge warning">unfinished.*onRequest of the route.*badge good">replied/s)
  t.equal(text.match(/replied/g)?.length, 1)
})

t.test('a long statement is cut', async t => {
  t.match(waterfall([query(0, { detail: 'x'.repeat(301) })]), `${'x'.repeat(300)}…`)
})

t.test('lines beyond five hundred are counted but not shown, and 100,000 spans are small', async t => {
  const text = waterfall(Array.from({ length: 502 }, () => span({ duration: 100 })))
  t.match(text, '2 more rows not shown')
  t.equal(text.match(/<rect/g)?.length, 500)
  const spans = Array.from({ length: 100_000 }, (_, n) => span({ start: n / 1000, duration: (n % 9) / 100 }))
  t.ok(waterfall(spans).length < 500_000)
  t.match(waterfall([]), 'Nothing was timed')
})

t.test('the scale fits what ran, and a much longer tail is named', async t => {
  t.equal(waterfallScale({ duration: 20, spans: [span({ start: 20, duration: 10 })] }), 30)
  t.equal(waterfallScale({ duration: 20, spans: [span({ duration: 10 })] }), 20)
  t.ok(waterfallScale({ duration: 5000, spans: [span({ duration: 10 })] }) < 12)
  const text = waterfall([span({ duration: 10 })], 1, { duration: 5000 })
  t.match(text, /11\.0 of 5,000 ms.*unaccounted.*until 5,000 ms, beyond the scale.*4,990/s)
  t.match(text, '<rect class="unknown" x="90.91%" y="9" width="9.09%"')
})

t.test('the threshold is the one asked for, or one that suits the request', async t => {
  const found = ['0', '2.5', '-1', 'x', '1e9'].map(fold => foldThreshold(new URLSearchParams({ fold }), 100))
  t.same(found, [0, 2.5, 1, 1, 1])
  t.equal(foldThreshold(undefined, 3.4), 0.2)
})
