import t from 'tap'
import type { Json, NearMiss, Profile, Span } from '../../core/profile.ts'
import type { ViewContext } from '../../core/panel.ts'
import { renderProfileMarkdown, renderProfilePage } from '../../core/view/profile-page.ts'
import { actions, panels } from './example-panels.ts'
import {
  configuration,
  context,
  exampleQuery,
  exampleUse,
  failedProfile,
  notFoundProfile,
  profile,
  span,
} from './example-profile.ts'

const noRelated = { caused: [], previous: null, next: null, previousOfRoute: null, sightings: null }

const pageOf = (of: Profile, panel: string, changes: Partial<ViewContext> = {}) =>
  renderProfilePage(context(of, changes), panels, panel, noRelated, actions)
const page = (panel: string, changes: Partial<Profile> = {}) => pageOf(profile(changes), panel)
const markdownOf = (of: Profile, panel?: string, changes: Partial<ViewContext> = {}) =>
  renderProfileMarkdown(context(of, changes), panels, panel)

function text(page: string): string {
  return page.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
}

const { request, response, routing } = profile()
const [miss, , other] = notFoundProfile().routing.nearMisses as [NearMiss, NearMiss, NearMiss]

t.test('the header says what was asked, how it ended, and what matters about it', async t => {
  t.match(
    text(page('request')),
    /200 GET \/museums\/7 \?lang=fr&amp;page=2 .*Time 24\.6 ms Logs 1 warning SQL 2 · 3\.40 ms HTTP 1 · 5\.50 ms Response HTML, 5\.12 kB License Louvre When \d+ d ago 2026-11-21 01:11:07 UTC Token k3Jx9PzQ4wTn/,
  )
  const unknown = { ...response, bodySize: null, contentType: null }
  t.match(text(page('request', { response: unknown })), 'Response unknown')
})

t.test('the header marks queries that failed or were repeated', async t => {
  const repetition = { kind: 'loop' as const, sql: 'select', count: 9, duration: 3, locations: [] }
  const totals = { count: 2, duration: 3.4 }
  const sql = (changes: object) => page('request', { database: exampleUse([], { ...totals, ...changes }), http: null })
  t.match(sql({ failed: 1 }), '<span class="text-error">2 · 3.40 ms, 1 failed</span>')
  t.match(sql({ repetitions: [repetition] }), '<span class="text-warning">2 · 3.40 ms</span>')
  t.notMatch(page('request', { database: null }), '<dt>SQL')
})

t.test('the header has the colour of the outcome', async t => {
  t.match(page('request'), '<section class="request good"')
  t.match(pageOf(failedProfile(), 'request'), /<section class="request error".*1 error/s)
  t.match(pageOf(notFoundProfile(), 'request'), '<section class="request warning"')
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
    /spans: 9990 left out\. A profile keeps 1,000\..*A note\..*Request headers.*took 115 µs: 84 µs during the request, 31 µs after the response\. Storing the previous profile took 22 µs\.</s,
  )
  const found = page('request', { cost: { trace: 900, collect: 23_439, store: 0 } })
  t.match(found, 'took 24.3 ms: 900 µs during the request, 23.4 ms after the response.')
})

t.test('an unmatched request has no route parameters', async t => {
  const shown = pageOf(notFoundProfile({ request: { ...request, params: { '*': 'version' } } }), 'request')
  t.notMatch(shown, '<h3>Route parameters')
  t.match(shown, 'no route parameters')
})

t.test('neither page has inline styles or scripts', async t => {
  for (const { name } of panels) t.notMatch(pageOf(failedProfile(), name), /style=|<style|<script>|\son\w+=/)
})

t.test('the request panel shows what was sent and names what was not', async t => {
  t.match(
    page('request', { request: { ...request, cookies: {} } }),
    /aria-current="page">Request<.*<h3>Query.*<h3>Route parameters.*<h3>Request headers.*The request had no cookies, no body\..*<h3>Connection.*As cURL.*curl/s,
  )
})

t.test('the response is a tab of its own, with a link that needs no script', async t => {
  t.match(page('request'), 'href="/_profiler/k3Jx9PzQ4wTn?panel=request&amp;show=response"')
  const tab = (changes: Partial<Profile> = {}) =>
    pageOf(profile(changes), 'request', { query: new URLSearchParams('show=response') })
  t.match(tab(), /aria-current="page">Response<.*200 OK.*5\.12 kB.*<h3>Response headers/s)
  t.notMatch(tab(), '<h3>Request headers')
  t.match(tab({ response: { ...response, streamed: true, contentType: null } }), /none.*5\.12 kB, streamed/s)
})

t.test('a request says where it came from, what caused it and how it ended, or that it is unknown', async t => {
  const nothing = { host: null, ip: null, requestId: null, routing: { ...routing, matched: null } }
  const found = text(page('request', { ...nothing, request: { ...request, headers: [] } }))
  t.match(found, /Host none Route none IP address unknown Protocol http, HTTP\/1\.1 Request ID none/)
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
  ['a body without a type is JSON', [1], null, /<pre class="json".*\n {2}1\n/s],
  ['a form is shown as pairs', { email: 'a@b' }, 'application/x-www-form-urlencoded', /<dt>email.*a@b/s],
  ['text is shown as it is', 'plain', 'text/plain', '<pre tabindex="0"><code>plain'],
  ['a bare value is shown as a value', 7, 'application/json', '<code>7</code>'],
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
    text(page('request', { request: { ...request, body, contentType, bodySize: 15 } })),
    /photo lily\.png image\/png 48\.2 kB note a gift text\/plain other unnamed other plain other .*strange/,
  )
})

t.test('the performance panel says where the time went, then what was slow, then what ran', async t => {
  const shown = text(page('performance'))
  t.match(shown, /Where 24\.6 ms went each millisecond counted once Event loop busy 31% · Heap 31\.4 MB/)
  t.match(shown, /SQL 14\.3 58% Hooks 5\.45 22% Handler 3\.20 13% Sending 0\.50 Cache 0\.10 Unaccounted 1\.05/)
  t.match(shown, /Slowest five ms and share .*select platforms .*9\.30 .*38%/)
  t.match(shown, /Waterfall .*What ran ms Share .*lookUpLicense onRequest/)
  t.notMatch(shown, 'Findings')
})

const query = (name: string, start: number, duration: number, parent: number | null = null) =>
  span({ kind: 'query', name, hook: null, parent, start, duration })
const duplicates = { kind: 'duplicate' as const, sql: 'select', count: 9, duration: 3, locations: [] }
const shown = (duration: number, spans: Span[], database: Profile['database'] = null) =>
  text(page('performance', { duration, spans, database, lifecycle: [] }))

t.test('findings are sentences with their number and their line', async t => {
  const slow = profile({
    database: null,
    duration: 100,
    lifecycle: [],
    spans: [
      span({ kind: 'handler', name: 'show', hook: null, start: 0, duration: 60 }),
      ...Array.from({ length: 10 }, (_, n) => query('select t', n * 3, 2, 0)),
      span({ kind: 'hook', name: 'slowHook', start: 60, duration: 18, location: null }),
      span({ kind: 'other', name: 'call', hook: null, start: 78, duration: 10, location: null }),
      span({ kind: 'other', name: 'call', hook: null, start: 88, duration: 10, location: null }),
    ],
  })
  const markdown = markdownOf(slow, 'performance')
  t.match(markdown, /\| Handler \| 40\.0 ms \| 40% \|.*- show, its own code: 40\.0 ms.*`plugins\/locale\.ts:12:7`/s)
  t.match(markdown, /### Slowest calls.*\| slowHook \| 18\.0 ms \| 18% \|\s+\|/s)
  const found = text(pageOf(slow, 'performance'))
  const busy = exampleUse([exampleQuery({ sql: 'select', start: 20, waited: 12 })], { repetitions: [duplicates] })
  for (const [of, sentence] of [
    [found, 'Findings 4'],
    [found, /show, its own code: 40\.0 ms, 40% of the request\. Its own code, or .*plugins\/ locale\.ts:12/],
    [found, 'N+1: 10 queries of one shape, 20.0 ms. One query could fetch all the rows.'],
    [found, 'slowHook: 18.0 ms, 18% of the request. It delays every request that it runs for.'],
    [found, '2 × call: 20.0 ms, 20% of the request. The calls together.'],
    [shown(24.6, [], busy), '9 queries with the same parameters, 3.00 ms. The first result could be reused.'],
    [shown(24.6, [], busy), 'Waited 12.0 ms for a connection, 49% of the request. All connections of the pool were'],
    [shown(100, [query('select t', 0, 30)]), '70.0 ms unaccounted, 70% of the request.'],
    [shown(100, [query('select t', 0, 30)]), 'select t: 30.0 ms, 30% of the request.'],
    [shown(100, [query('select 0', 0, 90), query('select 1', 0, 90)]), 'Slowest five ms and share '],
  ] as const) {
    t.match(of, sentence)
  }
})

t.test('the methods of one path are in one row, and what differs is marked', async t => {
  const nearMisses = [miss, { ...miss, method: ['PUT', 'POST'] }, { ...other, url: '/versions', version: '2' }]
  const missed = notFoundProfile({ path: '/xversion', routing: { matched: null, routes: 3, nearMisses } })
  const shown = pageOf(missed, 'routing')
  t.match(text(shown), /POST PUT \/version .*\/ x version s on api\.example version 2/)
  t.match(shown, '<del>x</del>version<mark class="differs">s</mark>')
})

t.test('the configuration panel shows versions, settings, the plugin tree and routes, if they are stored', async t => {
  const found = text(page('configuration'))
  t.match(found, /fastify 5\.12\.8.*DEFAULT_LOCALE en.*root 182 ms.*entities 2\.00 ms.*POST \/versions on api\.example/)
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
