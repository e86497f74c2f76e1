import t from 'tap'
import { ownTimes, timelineRows } from '../../show/parts/span-tree.ts'
import { spanColour } from '../../show/parts/span-kind.ts'
import { renderWaterfall } from '../../show/parts/waterfall.ts'
import { context, notFoundProfile, profile, span } from './example-profile.ts'

const names = (of: Parameters<typeof timelineRows>[0]): string[] =>
  timelineRows(of).map(row => '·'.repeat(row.depth) + (row.type === 'point' ? row.point.name : row.span.name))

t.test('listeners are listed under their dispatch point, nested spans under them, and handlers in between', async t => {
  t.same(names(profile()), [
    'kernel.request',
    '·lookUpLicense',
    '··license',
    '··select licenses',
    '·setLocale',
    '·checkAccess',
    'validation',
    'kernel.controller',
    '·loadUser',
    'kernel.controller_arguments',
    'showMuseum',
    '·select museums',
    '·select platforms',
    'kernel.response',
    '·renewCookie',
    'kernel.finish_request',
    '·closeProfile',
  ])
})

t.test('a listener of a dispatch point that was not reached is still shown', async t => {
  t.ok(names(notFoundProfile({ spans: [span({ name: 'lost', dispatchPoint: 'kernel.controller' })] })).includes('lost'))
})

t.test('a dispatch point that did not end has no duration', async t => {
  const [point] = profile().lifecycle
  if (point === undefined) return t.fail()
  t.same(
    timelineRows(profile({ spans: [], lifecycle: [{ ...point, duration: null }] })).map(row => row.duration),
    [0],
  )
})

t.test("spans that are each other's parents do not hang the page", async t => {
  t.same(names(profile({ lifecycle: [], spans: [span({ name: 'a', parent: 1 }), span({ name: 'b', parent: 0 })] })), [
    'a',
    '·b',
  ])
})

t.test('self time excludes nested spans, and counts overlapping ones once', async t => {
  t.same(
    ownTimes([
      span({ start: 0, duration: 10 }),
      span({ parent: 0, start: 1, duration: 4 }),
      span({ parent: 0, start: 3, duration: 4 }),
      span({ parent: 0, start: 4, duration: 1 }),
    ]).map(({ own }) => own),
    [4, 4, 4, 1],
  )
})

t.test('self time is never negative', async t => {
  t.equal(ownTimes([span({ duration: 1 }), span({ parent: 0, duration: 5 })])[0]?.own, 0)
})

t.test('bars are positioned by attributes on one scale', async t => {
  const text = String(
    renderWaterfall(context(profile({ duration: 100, lifecycle: [], spans: [span({ start: 25, duration: 50 })] }))),
  )
  t.match(text, '<rect class="bar hook" x="25%" width="50%"')
  t.notMatch(text, 'style=')
})

t.test('a bar too thin to see is widened within the scale', async t => {
  t.match(
    String(
      renderWaterfall(context(profile({ duration: 100, lifecycle: [], spans: [span({ start: 100, duration: 0 })] }))),
    ),
    'x="99.7%" width="0.3%"',
  )
})

t.test('a request that took no time has bars without width', async t => {
  t.match(
    String(renderWaterfall(context(profile({ duration: 0, lifecycle: [], spans: [span({ duration: 0 })] })))),
    'x="0%" width="0%"',
  )
})

t.test('an unusual outcome of a span is shown', async t => {
  const text = String(
    renderWaterfall(
      context(
        profile({
          lifecycle: [],
          spans: [
            span({ outcome: 'threw' }),
            span({ outcome: 'unfinished' }),
            span({ outcome: 'replied', location: null }),
          ],
        }),
      ),
    ),
  )
  t.match(text, /badge error">threw.*badge warning">unfinished.*badge good">replied/s)
})

t.test('an interrupted dispatch point is marked', async t => {
  t.match(String(renderWaterfall(context(notFoundProfile()))), /kernel\.request <span class="badge error">interrupted/)
})

t.test('rows beyond a thousand are counted but not shown', async t => {
  const text = String(
    renderWaterfall(context(profile({ lifecycle: [], spans: Array.from({ length: 1002 }, () => span({})) }))),
  )
  t.match(text, '2 more rows not shown')
  t.equal(text.match(/<rect/g)?.length, 1000)
})

t.test('a request that failed before anything ran says so', async t => {
  t.match(String(renderWaterfall(context(profile({ lifecycle: [], spans: [] })))), 'Nothing was timed')
})

t.test('all kinds of handlers share a colour', async t => {
  t.same((['handler', 'not-found-handler', 'error-handler', 'query', 'other'] as const).map(spanColour), [
    'handler',
    'handler',
    'handler',
    'query',
    'other',
  ])
})
