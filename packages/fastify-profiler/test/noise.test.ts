import t from 'tap'
import type { Profile } from '../core/profile.ts'
import type { ProfileSummary } from '../core/summary.ts'
import { compare } from '../features/compare/compare.ts'
import { compareSets } from '../features/compare/compare-sets.ts'
import { profile, span, summary } from './views/example-profile.ts'

/** A generator of numbers from 0 to 1, the same for each seed. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** A request that takes `base` milliseconds and what chance adds: a little always, and a pause of many now and then. */
function requestAt(time: number, base: number, random: () => number): Profile {
  const jitter = -Math.log(1 - random()) * base * 0.3
  const pause = random() < 0.05 ? random() * 50 : 0
  const warmUp = time < 10 ? (10 - time) * base * 0.2 : 0
  const duration = base + jitter + pause + warmUp
  return profile({
    token: `t${time}`,
    time,
    duration,
    database: null,
    lifecycle: [],
    spans: [span({ kind: 'handler', name: 'GET /cart', hook: null, duration })],
  })
}

const summaryOf = (of: Profile): ProfileSummary => ({ ...summary(of), queries: { count: 0, duration: 0 } })

const others = (history: readonly Profile[], index: number) => ({
  before: history.slice(Math.max(0, index - 20), index).map(summaryOf),
  after: history.slice(index + 2, index + 22).map(summaryOf),
})

for (const base of [0.5, 5, 50]) {
  t.test(`of 200 pairs of equal requests of ${base} ms, none gets a verdict`, async t => {
    const random = randomFrom(7)
    const history = Array.from({ length: 201 }, (_, time) => requestAt(time, base, random))
    const pairs = history.slice(1).map((b, index) => compare(history[index] ?? b, b, others(history, index)))
    t.equal(pairs.length, 200)
    t.same(
      pairs.filter(({ verdict, spans }) => verdict.change !== 'noise' || spans.some(({ change }) => change !== null)),
      [],
    )
  })
}

t.test('a request that is quicker than all before it by far gets a verdict, and its span is named', async t => {
  const random = randomFrom(3)
  const before = Array.from({ length: 12 }, (_, time) => requestAt(time + 20, 50, random))
  const [last = requestAt(31, 50, random)] = before.slice(-1)
  const after = requestAt(40, 5, () => 0.5)
  const known = { before: before.slice(0, -1).map(summaryOf), after: [] }
  t.match(compare(last, after, known), {
    verdict: { change: 'faster', because: 'others' },
    spans: [{ name: 'GET /cart', change: 'time' }],
  })
  t.match(compare(after, last, known).verdict, { change: 'slower', because: 'others' })
})

t.test('one slow request gets no verdict until others after it are slow, too', async t => {
  const random = randomFrom(5)
  const [quick, slow] = [requestAt(20, 5, () => 0.5), requestAt(21, 50, () => 0.5)]
  const slower = Array.from({ length: 9 }, (_, time) => summaryOf(requestAt(time + 22, 50, random)))
  t.equal(compare(quick, slow).verdict.change, 'noise')
  t.equal(compare(quick, slow, { before: [], after: slower.slice(0, 3) }).verdict.change, 'noise')
  t.match(compare(quick, slow, { before: [], after: slower }).verdict, { change: 'slower', because: 'others' })
})

t.test('a new call that explains only a little of the difference gives no verdict', async t => {
  const quick = requestAt(20, 5, () => 0.5)
  const slow = requestAt(21, 50, () => 0.5)
  slow.spans.push(span({ kind: 'cache', name: 'get', hook: null, parent: 0, start: 1, duration: 0.1 }))
  t.match(compare(quick, slow), { verdict: { change: 'noise' }, spans: [{ name: 'get', change: 'calls' }, {}] })
})

const setOf = (from: number, count: number, base: number, random: () => number) =>
  Array.from({ length: count }, (_, index) => summaryOf(requestAt(from + index, base, random)))

t.test('of 200 pairs of equal sets of a route, none gets a verdict', async t => {
  const random = randomFrom(11)
  const changes = Array.from({ length: 200 }, () => {
    const requests = setOf(20, 40, 5, random)
    return compareSets({ method: 'GET', route: '/cart', at: 40 }, requests).verdict.change
  })
  t.same(
    changes.filter(change => change !== 'noise'),
    [],
  )
})

t.test('a route that got faster or slower gets a verdict with its medians', async t => {
  const random = randomFrom(13)
  const [slow, quick] = [50, 5]
  const sets = (before: number, since: number) =>
    compareSets({ method: 'GET', route: '/cart', at: 40 }, [
      ...setOf(20, 20, before, random),
      ...setOf(40, 20, since, random),
    ])
  t.match(sets(slow, quick).verdict, { change: 'faster' })
  t.match(sets(quick, slow).verdict, { change: 'slower' })
  t.match(sets(quick, slow), { before: { count: 20, failed: 0 }, since: { count: 20, failed: 0 } })
})

t.test('few requests give no verdict, and requests that failed only count as such', async t => {
  const random = randomFrom(17)
  const failed = { ...summaryOf(requestAt(60, 500, random)), status: 500 }
  const few = compareSets({ method: 'GET', route: '/cart', at: 40 }, [
    ...setOf(20, 20, 50, random),
    ...setOf(40, 3, 5, random),
    failed,
    { ...failed, status: null, outcome: 'aborted' as const },
  ])
  t.match(few, { verdict: { change: 'noise' }, since: { count: 5, failed: 2, durations: { length: 3 } } })
  t.match(compareSets({ method: 'GET', route: '/', at: 1 }, []).before, { count: 0, duration: { median: 0 } })
})
