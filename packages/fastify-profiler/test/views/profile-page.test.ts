import t from 'tap'
import type { Json, NearMiss, Profile } from '../../core/profile.ts'
import type { ViewContext } from '../../core/panel.ts'
import { renderProfileFile } from '../../features/export/export-routes.ts'
import { panelsByWeight, renderProfileMarkdown, renderProfilePage } from '../../features/home/profile-page.ts'
import { routingPanel } from '../../features/routing/routing-panel.ts'
import { actions, panels } from './example-panels.ts'
import { configuration, context, failedProfile, notFoundProfile, profile, span, textOf } from './example-profile.ts'

const noRelated = { caused: [], previous: null, next: null, previousOfRoute: null, sightings: null }

const pageOf = (of: Profile, panel: string, changes: Partial<ViewContext> = {}) =>
  renderProfilePage(context(of, changes), panels, panel, noRelated, actions)
const page = (panel: string, changes: Partial<Profile> = {}) => pageOf(profile(changes), panel)
const markdownOf = (of: Profile, panel?: string, changes: Partial<ViewContext> = {}) =>
  renderProfileMarkdown(context(of, changes), panels, panel)

const { request, response, routing } = profile()
const [miss, , other] = notFoundProfile().routing.nearMisses as [NearMiss, NearMiss, NearMiss]

t.test('the header says what was asked, how it ended, and what matters about it', async t => {
  t.match(
    textOf(page('request', { time: Date.UTC(2026, 10, 21, 1, 11, 7, 482) })),
    /200 GET \/museums\/7 \?lang=fr&amp;page=2 .*Time 24\.6 ms Logs 1 warning Queries 2 · 3\.40 ms HTTP 1 · 5\.50 ms Response HTML, 5\.12 kB License Louvre When \d+ d ago 2026-11-21 01:11:07 UTC Token k3Jx9PzQ4wTn/,
  )
  const unknown = { ...response, bodySize: null, contentType: null }
  t.match(textOf(page('request', { response: unknown })), 'Response unknown')
})

t.test('a page offers to replay what changes nothing, and to export everything', async t => {
  for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
    const shown = page('request', { method })
    t.equal(shown.includes('>Replay<'), method === 'GET' || method === 'HEAD', method)
    for (const name of ['file', 'har', 'curl']) t.match(shown, `href="/_profiler/k3Jx9PzQ4wTn/${name}"`)
  }
})

t.test('the menu lists every panel, marks the open one, greys out empty ones and shows badges', async t => {
  const shown = page('logs')
  t.match(shown, /panel=logs" aria-current="page">Logs <span class="fact warning">1 warning</)
  t.match(shown, /panel=exception" class="empty">Exception<span class="sr-only"> \(empty\)/)
  t.match(shown, /panel=license">License <span class="fact good">cache/)
  t.match(shown, /panel=security" class="empty">/)
  t.match(page('security'), 'Nothing was recorded')
})

t.test('the menu counts the most severe log lines, or all if there are no problems', async t => {
  for (const [levels, said] of [
    [[30, 40, 50], 'Logs <span class="fact error">1 error<'],
    [[40, 40], 'Logs <span class="fact warning">2 warnings<'],
    [[], 'class="empty">Logs'],
    [[10, 20, 30], 'Logs <span class="fact neutral">3<'],
  ] as const) {
    t.match(page('request', { logs: levels.map(level => ({ level, start: 0, message: '', fields: {} })) }), said)
  }
})

t.test("the page starts with what was left out and ends with the profiler's cost", async t => {
  const dropped = [{ what: 'spans', count: 9990, why: 'A profile keeps 1,000.' }]
  t.match(
    page('request', { dropped, notes: ['A note.'] }),
    /spans: 9,990 left out\. A profile keeps 1,000\..*A note\..*Request headers.*took 115 µs: 84 µs up to the response, 31 µs after it\. Storing the previous profile took 22 µs\.</s,
  )
  t.match(
    page('request', { cost: { trace: 900, collect: 23_439, store: 0 } }),
    'took 24.3 ms: 900 µs up to the response, 23.4 ms after it.',
  )
})

t.test('neither page has inline styles or scripts', async t => {
  for (const { name } of panels) t.notMatch(pageOf(failedProfile(), name), /style=|<style|<script>|\son\w+=/)
})

t.test('the request panel shows what was sent and names what was not', async t => {
  t.match(
    page('request', { request: { ...request, cookies: {} } }),
    /<h3>Query.*<h3>Route parameters.*<h3>Request headers.*The request had no cookies, no body\..*<h3>Connection.*As cURL.*curl/s,
  )
})

t.test('the request panel shows the response below the request', async t => {
  t.match(page('request'), /<h3>Request headers.*200 OK.*5\.12 kB.*<h3>Response headers/s)
  const streamed = page('request', { response: { ...response, streamed: true, contentType: null } })
  t.match(streamed, /none.*5\.12 kB, streamed/s)
})

t.test('a request says where it came from, what caused it and how it ended, or that it is unknown', async t => {
  const nothing = { host: null, ip: null, requestId: null, routing: { ...routing, matched: null } }
  t.match(
    textOf(page('request', { ...nothing, request: { ...request, headers: [] } })),
    /Host none Route none IP address unknown Protocol http, HTTP\/1\.1 Request ID none/,
  )
  const headers: Array<[string, string]> = [['Host', 'a.example:8080']]
  t.match(page('request', { request: { ...request, headers } }), /<dt>Host.*a\.example:8080/s)
  const aborted = page('request', { ...nothing, status: null, outcome: 'aborted', parent: 'p1' })
  t.match(aborted, /No response.*Client went away.*Parent request.*\/_profiler\/p1/s)
})

for (const [title, body, contentType, shown] of [
  [
    'a JSON body is indented and highlighted',
    { email: 'a@b', on: true },
    'application/json',
    /application\/json · 15 B<\/small>.*&quot;email&quot;: <span class="string">&quot;a@b&quot;<\/span>,\n {2}&quot;on&quot;: <span class="keyword">true/s,
  ],
  ['a form is shown as pairs', { email: 'a@b' }, 'application/x-www-form-urlencoded', /<dt>email.*a@b/s],
  ['text is shown as it is', 'plain', 'text/plain', '<pre tabindex="0"><code>plain'],
] satisfies Array<[string, Json, string | null, string | RegExp]>) {
  t.test(title, async t => {
    t.match(page('request', { request: { ...request, body, contentType, bodySize: 15 } }), shown)
  })
}

t.test('the files of a multipart form have their names, types and sizes', async t => {
  const body = {
    photo: { filename: 'lily.png', mimetype: 'image/png', size: 48_200 },
    note: { value: 'a gift', mimetype: 'text/plain' },
    other: [{ filename: 7 }, 'plain', { strange: 1 }],
  }
  const contentType = 'multipart/form-data; boundary=x'
  t.match(
    textOf(page('request', { request: { ...request, body, contentType, bodySize: 15 } })),
    /photo lily\.png image\/png 48\.2 kB note a gift text\/plain other unnamed other plain other .*strange/,
  )
})

t.test('the performance panel says where the time went, then what was slow, then what ran', async t => {
  const shown = textOf(page('performance'))
  t.match(shown, /Where 24\.6 ms went each millisecond counted once Event loop busy 31% · Heap 31\.4 MB/)
  t.match(shown, /Queries 14\.3 58% Hooks 5\.45 22% Handler 3\.20 13% Sending 0\.50 Cache 0\.10 Unaccounted 1\.05/)
  t.match(shown, /Slowest five ms and share; 85% .*select platforms .*9\.30 .*38%/)
  t.match(shown, /Waterfall .*What ran ms Share .*lookUpLicense onRequest/)
  t.notMatch(shown, 'Findings')
})

const slow = profile({
  database: null,
  duration: 100,
  lifecycle: [],
  spans: [
    span({ kind: 'handler', name: 'show', hook: null, start: 0, duration: 60 }),
    ...Array.from({ length: 10 }, (_, n) =>
      span({ kind: 'query', name: 'select t', hook: null, parent: 0, start: n * 3, duration: 2 }),
    ),
    span({ kind: 'hook', name: 'slowHook', start: 60, duration: 18, location: null }),
    span({ kind: 'other', name: 'call', hook: null, start: 78, duration: 10, location: null }),
    span({ kind: 'other', name: 'call', hook: null, start: 88, duration: 10, location: null }),
  ],
})

t.test('findings are sentences with their number and their line', async t => {
  const shown = textOf(pageOf(slow, 'performance'))
  t.match(shown, 'Findings 4')
  t.match(shown, /show without its calls: 40\.0 ms, 40% of the request\. Its own code, or .*plugins\/ locale\.ts:12/)
  t.match(shown, /N\+1: 10 queries of one shape, 20\.0 ms\. One query could fetch all the rows\./)
  t.match(shown, /slowHook: 18\.0 ms, 18% of the request\. It delays every request that it runs for\./)
  t.match(shown, /2 × call: 20\.0 ms, 20% of the request\. The calls together\./)
  const markdown = markdownOf(slow, 'performance')
  t.match(markdown, /\| Handler \| 40\.0 ms \| 40% \|.*- show without its calls: 40\.0 ms.*`plugins\/locale\.ts:12:7`/s)
  t.match(markdown, /### Slowest calls.*\| slowHook \| 18\.0 ms \| 18% \|\s+\|/s)
})

t.test('a single slow call and lost time are findings, too, and calls at once claim no more than all', async t => {
  const query = (name: string, duration: number) => span({ kind: 'query', name, hook: null, duration })
  const lost = textOf(page('performance', { duration: 100, spans: [query('select t', 30)], lifecycle: [] }))
  t.match(lost, '70.0 ms unaccounted, 70% of the request.')
  t.match(lost, 'select t: 30.0 ms, 30% of the request.')
  const spans = [query('select 0', 90), query('select 1', 90)]
  t.match(
    textOf(page('performance', { duration: 100, spans, lifecycle: [] })),
    'Slowest five ms and share; 100% of the request',
  )
})

t.test('an open stream is a finding only if code blocked the event loop for much of it', async t => {
  const streamed = (blocked: number) => {
    const { eventLoop, token } = profile()
    return textOf(
      page('performance', {
        duration: 2000,
        spans: [],
        lifecycle: [{ name: 'kernel.response', hooks: [], start: 0, duration: 0, listeners: [], interrupted: null }],
        eventLoop: { ...eventLoop, blocked: [{ start: 100, duration: blocked, by: token }] },
      }),
    )
  }
  const finding = 'sending: 2,000 ms, 100% of the request. It blocked the event loop for'
  t.notMatch(streamed(40), finding)
  t.match(streamed(400), `${finding} 400 ms.`)
})

t.test('the routing panel shows the route that matched', async t => {
  t.match(routingPanel.view(routing, context(profile())), [
    {
      pairs: [
        ['Route', { code: 'GET /museums/:id' }],
        ['Host', { value: 'any' }],
        ['Handler', { value: 'showMuseum' }],
      ],
    },
    { section: 'Parameters', count: 1, blocks: [{ pairs: [['id', { value: 7 }]] }] },
    { text: 'The application has 14 routes.' },
  ])
})

t.test('the methods of one path are in one row, and what differs is marked', async t => {
  const nearMisses = [miss, { ...miss, method: ['PUT', 'POST'] }, { ...other, url: '/versions', version: '2' }]
  const missed = notFoundProfile({ path: '/versionx', routing: { matched: null, routes: 3, nearMisses } })
  const shown = pageOf(missed, 'routing')
  t.match(textOf(shown), /POST PUT \/version .*\/version s x on api\.example version 2/)
  t.match(shown, 'version<mark class="differs">s</mark><del>x</del>')
})

t.test('the configuration panel shows versions, settings, the plugin tree and routes, if they are stored', async t => {
  t.match(
    textOf(page('configuration')),
    /fastify 5\.12\.8.*DEFAULT_LOCALE en.*root 182 ms.*entities 2\.00 ms.*POST \/versions on api\.example/,
  )
  const gone = { configuration: null }
  t.match(pageOf(profile(), 'configuration', gone), 'no longer stored')
  const unset = { configuration: { ...configuration, environment: null } }
  t.match(pageOf(profile(), 'configuration', unset), 'not set')
})

t.test('the Markdown has every panel with data, or the one that is asked for', async t => {
  const dropped = [{ what: 'logs', count: 2, why: 'Full.' }]
  const markdown = markdownOf(failedProfile({ notes: ['A note.'], dropped }))
  const titles = ['Request / Response', 'Performance', 'Exception', 'Logs', 'Lifecycle', 'Routing', 'Configuration']
  for (const title of [...titles, 'License']) t.match(markdown, `\n## ${title}\n`)
  t.match(markdown, '# 500 Internal Server Error: `GET /museums/7`')
  t.match(markdown, '- Note: A note.')
  t.match(markdown, '- logs: 2 left out. Full.')
  t.notMatch(markdown, '## Security')
  const one = markdownOf(profile({ host: null, ip: null, request: { ...request, body: { a: 1 } } }), 'request')
  t.match(one, '### Query')
  t.notMatch(one, '## Performance')
  t.notMatch(markdownOf(profile({ request: { ...request, query: {}, headers: [] } }), 'request'), '### Query')
})

t.test('a request opens at the panel that says most about it, and its file begins with it', async t => {
  const quiet = profile({ database: null, spans: [], duration: 1 })
  for (const [of, name] of [
    [notFoundProfile(), 'routing'],
    [failedProfile(), 'exception'],
    [profile(), 'performance'],
    [quiet, 'request'],
  ] as const) {
    t.equal(panelsByWeight(panels, of)[0]?.name, name)
    t.match(/id="panel-([\w-]+)"/.exec(renderProfileFile(context(of), panels))?.[1], name)
  }
})
