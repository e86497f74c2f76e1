import t from 'tap'
import type { Profile } from '../core/profile.ts'
import type { ProfileSummary } from '../core/summary.ts'
import { compare } from '../features/compare/compare.ts'
import { compareSets } from '../features/compare/compare-sets.ts'
import { comparisonSentence, groundsText, sameText } from '../features/compare/comparison-text.ts'
import { renderComparisonMarkdown } from '../features/compare/comparison-page.ts'
import { judgeTimes, type Verdict } from '../features/compare/verdict.ts'
import { makeFolder } from './folder.ts'
import { pageOf, profiledApp } from './profiled-app.ts'
import { storeProfiles } from './stores.ts'
import { context, profile, span, summary } from './views/example-profile.ts'

/** A generator of numbers from 0 to 1, the same for each seed. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** Times of `base` milliseconds and what chance adds: a tenth more or less, and a pause of many now and then. */
function timesOf(base: number, count: number, random: () => number): number[] {
  return Array.from({ length: count }, () => {
    const jitter = (random() + random() + random() - 1.5) * 0.2
    return base * (1 + jitter) + (random() < 0.02 ? random() * 50 : 0)
  })
}

/** How often each verdict is given of two sides. */
function verdictsOf(runs: number, judgeOne: () => Verdict): Record<string, number> {
  const counts: Record<string, number> = {}
  for (let run = 0; run < runs; run++) {
    const { change, sureness } = judgeOne()
    const name = sureness === 'certain' ? change : sureness
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

for (const base of [0.5, 5, 50]) {
  t.test(`of 200 pairs of equal sides of ${base} ms, at most two are called different`, async t => {
    const random = randomFrom(7)
    for (const size of [5, 10, 20]) {
      const counts = verdictsOf(200, () => judgeTimes(timesOf(base, size, random), timesOf(base, size, random)))
      const different = (counts.faster ?? 0) + (counts.slower ?? 0)
      t.ok(different <= 2, `${different} of 200 with ${size} a side`)
    }
  })
}

t.test('a change is certain by how large it is and how many requests there are, and never the wrong way', async t => {
  const random = randomFrom(5)
  const steady = (base: number, count: number) => timesOf(base, count, random).map(time => Math.min(time, base * 1.3))
  for (const [times, count, factor, right, wrong, least] of [
    [steady, 5, 2, 'slower', 'faster', 200],
    [steady, 5, 0.5, 'faster', 'slower', 200],
    [timesOf, 10, 1.33, 'slower', 'faster', 180],
    [timesOf, 10, 0.67, 'faster', 'slower', 180],
  ] as const) {
    const counts = verdictsOf(200, () => judgeTimes(times(20, count, random), times(20 * factor, count, random)))
    t.ok((counts[right] ?? 0) >= least, `${counts[right]} of 200 are ${right}`)
    t.equal(counts[wrong], undefined)
  }
})

t.test('of too few requests, what was seen is told, and that it is not certain', async t => {
  t.match(judgeTimes([36.8], [1.7]), { sureness: 'seen', change: 'faster', requests: { a: 1, b: 1 } })
  t.match(judgeTimes([20, 21, 20], [400, 401]), { sureness: 'seen', change: 'slower' })
  t.match(judgeTimes([20], [20.4]), { sureness: 'seen', change: 'none' })
  t.match(judgeTimes([20, 21, 20, 22, 21], [21, 20, 21, 20, 21]), { sureness: 'equal', change: 'none' })
  t.match(judgeTimes([20, 9, 8, 9, 14], [9, 5, 9, 15, 8]), { sureness: 'seen', change: 'none' }, 'they vary too much')
})

const requestOf = (duration: number, changes: Partial<Profile> = {}) =>
  profile({
    duration,
    database: null,
    lifecycle: [],
    spans: [span({ kind: 'handler', name: 'GET /cart', hook: null, duration })],
    ...changes,
  })

t.test('the span that made a request longer is named, with its share, though it was seen only once', async t => {
  const comparison = compare(requestOf(6.5), requestOf(76.6))
  t.equal(comparisonSentence(comparison), 'B took 70.1 ms longer, seen once, not yet certain: 6.50 ms → 76.6 ms')
  t.match(groundsText(comparison.verdict), 'There is 1 request like A and 1 like B')
  t.match(comparison.spans, [{ name: 'GET /cart', change: 'time' }])
})

t.test('a gap that only these two requests differ in is not called equal', async t => {
  const blocking = (duration: number) =>
    requestOf(60, { eventLoop: { utilization: 1, active: 9, idle: 9, blocked: [{ start: 1, duration, by: null }] } })
  const comparison = compare(blocking(2), blocking(44))
  t.match(sameText(comparison), 'Much the same: 1 span, ')
  t.match(sameText(comparison), '. 1 span took more or less time, seen once, not yet certain.')
  const markdown = renderComparisonMarkdown(comparison, context(profile()))
  t.match(markdown, /\| 2\.00 \| 44\.0 \| \+42\.0\s+seen once \|/)
})

t.test('calls that only one request made are certain, if they explain the difference', async t => {
  const call = (duration: number) => span({ kind: 'cache', name: 'get', hook: null, parent: 0, start: 1, duration })
  const withCall = (whole: number, part: number) => {
    const request = requestOf(whole)
    request.spans.push(call(part))
    return request
  }
  const explained = compare(requestOf(5), withCall(50, 40))
  t.match(explained.verdict, { sureness: 'certain', change: 'slower', because: 'calls' })
  t.match(compare(requestOf(5), withCall(50, 0.1)).verdict, { sureness: 'seen' })
})

const route = { method: 'GET', route: '/cart' }
const summariesOf = (from: number, times: readonly number[]): ProfileSummary[] =>
  times.map((duration, index) => ({ ...summary(requestOf(duration)), time: from + index }))

t.test('of a route, only requests that were answered are judged', async t => {
  const failed = { ...summary(requestOf(500)), time: 60, status: 500 }
  const sets = compareSets({ ...route, at: 40 }, [
    ...summariesOf(20, [20, 21, 20, 22, 21]),
    ...summariesOf(40, [400, 401, 402]),
    failed,
    { ...failed, status: null, outcome: 'aborted' as const },
  ])
  t.match(sets, { verdict: { sureness: 'seen', change: 'slower' }, since: { count: 5, failed: 2 } })
  t.match(compareSets({ ...route, at: 1 }, []).before, { count: 0, duration: { median: 0 } })
})

const born = Date.now() - 1_000_000

/** Stores requests of one route: of `before` the application started at `born`, of `since` between the two. */
function history(before: readonly number[], since: readonly number[]): string {
  const directory = makeFolder()
  const request = (duration: number, index: number, startedAt: number) =>
    requestOf(duration, { token: `request-${index}`, time: born + 1000 * (index + 1), process: { id: 7, startedAt } })
  const restart = born + 1000 * before.length + 500
  storeProfiles(directory, [
    ...before.map((duration, index) => request(duration, index, born)),
    ...since.map((duration, index) => request(duration, before.length + index, restart)),
  ])
  return directory
}

t.test('a side reaches to the restart between two requests, and the newest request can be slower', async t => {
  const app = await profiledApp(t, { directory: history([20, 21, 20, 22, 21, 20], [41, 40, 42, 41, 43]) })
  const compared = async (a: number, b: number) => {
    const answer = await pageOf(app, `compare/request-${a}/request-${b}`, 'application/json')
    return JSON.parse(answer).verdict
  }
  t.match(await compared(5, 10), { sureness: 'certain', change: 'slower', requests: { a: 6, b: 5 } })
  t.match(await compared(10, 5), { sureness: 'certain', change: 'faster', requests: { a: 5, b: 6 } })
  t.match(await compared(9, 10), { sureness: 'seen', requests: { a: 4, b: 1 } }, 'without a restart A is the border')
})

t.test('a request is compared with the newest one from before the start of its application', async t => {
  const app = await profiledApp(t, { directory: history([20, 21], [41, 40]) })
  t.match(await pageOf(app, 'request-3'), 'href="/_profiler/compare/request-1/request-3">Compare with the previous')
  t.match(await pageOf(app, 'request-1'), 'href="/_profiler/compare/request-0/request-1">Compare with the previous')
})
