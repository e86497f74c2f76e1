import t from 'tap'
import { renderToolbar, toolbarEntries } from '../../features/toolbar/toolbar.ts'
import { panels } from './example-panels.ts'
import { context, profile } from './example-profile.ts'

t.test("the toolbar shows time, route and the panels' own items, each linked to its panel", async t => {
  const found = toolbarEntries(context(profile()), panels).map(({ label, value, panel }) => [label, value, panel])
  t.same(found, [
    ['Time', '24.6 ms', 'performance'],
    ['Logs', '1 warning', 'logs'],
    ['Queries', '2 · 3.40 ms', 'database'],
    ['HTTP', '1 · 5.50 ms', 'http-client'],
    ['Route', '/museums/:id', 'routing'],
    ['License', 'louvre.example', 'license'],
    ['Heap', '31.4 MB', 'performance'],
  ])
})

t.test('a page that may not connect has nowhere to report to', async t => {
  t.match(String(renderToolbar(context(profile()), panels, false)), '&quot;report&quot;:null')
  t.match(String(renderToolbar(context(profile()), panels, true)), /&quot;report&quot;:&quot;[^&]*\/browser&quot;/)
})

t.test('the tag is ASCII, since the page may have any encoding', async t => {
  t.notMatch(String(renderToolbar(context(profile({ url: '/\u00fc\u202e\u{1f600}' })), panels, true)), /[^ -~]/)
})
