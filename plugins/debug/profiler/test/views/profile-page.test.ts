import t from 'tap'
import type { Json, NearMiss, Profile } from '../../base/profile.ts'
import type { AnyPanel } from '../../collect/panel.ts'
import { renderProfileMarkdown } from '../../show/markdown/profile-markdown.ts'
import { renderProfilePage } from '../../show/pages/profile-page.ts'
import { nearMissText } from '../../show/parts/near-misses.ts'
import { panels } from './example-panels.ts'
import {
  context,
  exampleQuery,
  failedProfile,
  licensePanel,
  notFoundProfile,
  profile,
  span,
  summary,
} from './example-profile.ts'

const broken: AnyPanel = {
  ...licensePanel,
  badge: () => {
    throw new Error('no badge')
  },
  body: () => {
    throw new Error('no <body>')
  },
  markdown: () => {
    throw new Error('no markdown')
  },
}

function text(page: string): string {
  return page.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
}

t.test('the header says what was asked, how it ended, and what matters about it', async t => {
  t.match(
    text(renderProfilePage(context(profile()), panels, 'request')),
    /200 GET \/museums\/7 \?lang=fr&amp;page=2 .*Time 24\.6 ms SQL 2 · 3\.40 ms HTTP 1 · 5\.50 ms Logs 1 warning Response HTML, 5\.12 kB License Louvre When \d+ d ago 2026-11-21 01:11:07 UTC Token k3Jx9PzQ4wTn/,
  )
})

t.test('the header says if nothing is known about the response', async t => {
  const response = { ...profile().response, bodySize: null, contentType: null }
  t.match(text(renderProfilePage(context(profile({ response })), panels, 'request')), 'Response unknown')
})

t.test('the header marks queries that failed or were repeated', async t => {
  const { database } = profile()
  if (database === null) return t.fail()
  const page = (changes: Partial<typeof database>) =>
    renderProfilePage(context(profile({ database: { ...database, ...changes }, http: null })), panels, 'request')
  t.match(page({ failed: 1 }), '<span class="text-error">2 · 3.40 ms, 1 failed</span>')
  const repetition = { kind: 'loop' as const, sql: 'select', count: 9, duration: 3, locations: [] }
  t.match(page({ repetitions: [repetition] }), '<span class="text-warning">2 · 3.40 ms</span>')
  t.notMatch(renderProfilePage(context(profile({ database: null })), panels, 'request'), '<dt>SQL')
})

t.test('duplicate queries and waits for a connection are findings', async t => {
  const { database } = profile()
  if (database === null) return t.fail()
  const repetitions = [{ kind: 'duplicate' as const, sql: 'select', count: 9, duration: 3, locations: [] }]
  const queries = [exampleQuery({ sql: 'select', start: 20, waited: 12 })]
  const page = text(
    renderProfilePage(
      context(profile({ spans: [], lifecycle: [], database: { ...database, repetitions, queries } })),
      panels,
      'performance',
    ),
  )
  t.match(page, '9 queries with the same parameters, 3.00 ms. The first result could be reused.')
  t.match(page, 'Waited 12.0 ms for a connection, 49% of the request. All connections of the pool were busy.')
})

t.test('the header has the colour of the outcome', async t => {
  t.match(renderProfilePage(context(profile()), panels, 'request'), '<section class="request good"')
  t.match(renderProfilePage(context(failedProfile()), panels, 'request'), /<section class="request error".*1 error/s)
  t.match(renderProfilePage(context(notFoundProfile()), panels, 'request'), '<section class="request warning"')
})

t.test('the header links to the requests before and after, in the same panel', async t => {
  const page = (previous: string | null, next: string | null) =>
    renderProfilePage(context(profile()), panels, 'logs', {
      caused: [],
      previous,
      next,
      previousOfRoute: null,
      sightings: null,
    })
  t.match(
    page('before', 'after'),
    /rel="prev" href="\/_profiler\/before\?panel=logs".*rel="next" href="\/_profiler\/after\?panel=logs"/,
  )
  t.notMatch(page(null, null), /rel="prev"|rel="next"/)
})

t.test('the header links to the requests that this one made', async t => {
  const caused = [summary(profile({ token: 'child', url: '/child' }))]
  t.match(
    renderProfilePage(context(profile()), panels, 'logs', {
      caused,
      previous: null,
      next: null,
      previousOfRoute: null,
      sightings: null,
    }),
    'href="/_profiler/child">200 GET /child</a>',
  )
})

t.test('the header links to the replays of a request, and a replay to the original', async t => {
  const replays = [200, null].map(status => ({ ...summary(profile({ status })), token: 'r1', isReplay: true as const }))
  const page = (of: Profile, panel = 'request') =>
    renderProfilePage(context(of), panels, panel, {
      caused: replays,
      previous: null,
      next: null,
      previousOfRoute: 'p0',
      sightings: null,
    })
  t.match(text(page(profile())), /Replays 200 · 24\.6 ms none · 24\.6 ms/)
  t.match(page(profile()), '/compare/p0/k3Jx9PzQ4wTn">Compare with the previous of this route')
  t.match(page(profile({ parent: 'o1', isReplay: true })), '/compare/o1/k3Jx9PzQ4wTn">Compare with the original')
  t.match(renderProfileMarkdown(context(profile({ parent: 'o1' })), panels), '- Parent request: `o1`')
})

t.test('a page offers to replay what changes nothing, and to export everything', async t => {
  for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
    const page = renderProfilePage(context(profile({ method })), panels, 'request')
    t.equal(page.includes('>Replay<'), method === 'GET' || method === 'HEAD', method)
    for (const name of ['file', 'har', 'curl']) t.match(page, `href="/_profiler/k3Jx9PzQ4wTn/${name}"`)
  }
})

t.test('the menu lists every panel, marks the open one, greys out empty ones and shows badges', async t => {
  const page = renderProfilePage(context(profile()), panels, 'logs')
  t.match(page, /panel=logs" aria-current="page">Logs <span class="fact warning">1 warning</)
  t.match(page, /panel=exception" class="empty">Exception<span class="sr-only"> \(empty\)/)
  t.match(page, /panel=license">License <span class="fact good">cache/)
  t.match(page, /panel=security" class="empty">/)
})

t.test('a panel without data says so', async t => {
  t.match(renderProfilePage(context(profile()), panels, 'security'), 'Nothing was recorded')
})

t.test("a name inherited from Object.prototype is not taken for a panel's data", async t => {
  t.match(
    renderProfilePage(context(profile()), [{ ...licensePanel, name: 'constructor' }], 'constructor'),
    'Nothing was recorded',
  )
})

t.test('a panel that fails shows its error on an intact page', async t => {
  const page = renderProfilePage(context(profile()), [broken], 'license')
  t.match(page, 'This panel could not be shown: Error: no &lt;body&gt;')
})

t.test('an unknown panel leaves the page intact', async t => {
  t.match(renderProfilePage(context(profile()), panels, 'nope'), '<h2 class="sr-only">nope</h2>')
})

t.test("the page starts with what was left out and ends with the profiler's cost", async t => {
  const page = renderProfilePage(
    context(profile({ dropped: [{ what: 'spans', count: 9990, why: 'A profile keeps 1,000.' }], notes: ['A note.'] })),
    panels,
    'request',
  )
  t.match(
    page,
    /spans: 9990 left out\. A profile keeps 1,000\..*A note\..*Request headers.*took 115 µs: 84 µs during the request, 31 µs after the response\. Storing the previous profile took 22 µs\.</s,
  )
})

t.test("the profiler's cost is in milliseconds from one millisecond on", async t => {
  t.match(
    renderProfilePage(context(profile({ cost: { trace: 900, collect: 23_439, store: 0 } })), panels, 'request'),
    'took 24.3 ms: 900 µs during the request, 23.4 ms after the response.',
  )
})

t.test('an unmatched request has no route parameters', async t => {
  const missing = notFoundProfile()
  const page = renderProfilePage(
    context({ ...missing, request: { ...missing.request, params: { '*': 'version' } } }),
    panels,
    'request',
  )
  t.notMatch(page, '<h3>Route parameters')
  t.match(page, 'no route parameters')
})

t.test('a request that was not answered, or was caused by another, says so', async t => {
  const page = renderProfilePage(
    context(
      profile({
        status: null,
        outcome: 'aborted',
        parent: 'p1',
        host: null,
        ip: null,
        routing: { matched: null, nearMisses: [], routes: 0 },
      }),
    ),
    panels,
    'request',
  )
  t.match(page, /No response.*Client went away.*Parent request.*\/_profiler\/p1/s)
})

t.test('neither page has inline styles or scripts', async t => {
  for (const { name } of panels) {
    const page = renderProfilePage(context(failedProfile()), panels, name)
    t.notMatch(page, /style=|<style|<script>|\son\w+=/)
  }
})

const requestPage = (changes: Partial<Profile>, query = '') =>
  renderProfilePage({ ...context(profile(changes)), query: new URLSearchParams(query) }, panels, 'request')

t.test('the request panel shows what was sent and names what was not', async t => {
  t.match(
    requestPage({ request: { ...profile().request, cookies: {} } }),
    /aria-current="page">Request<.*<h3>Query.*<h3>Route parameters.*<h3>Request headers.*The request had no cookies, no body\..*<h3>Connection.*As cURL.*curl/s,
  )
})

t.test('the response is a tab of its own, with a link that needs no script', async t => {
  t.match(requestPage({}), 'href="/_profiler/k3Jx9PzQ4wTn?panel=request&amp;show=response"')
  const page = requestPage({}, 'show=response')
  t.match(page, /aria-current="page">Response<.*200 OK.*5\.12 kB.*<h3>Response headers/s)
  t.notMatch(page, '<h3>Request headers')
  const response = { ...profile().response, streamed: true, contentType: null }
  t.match(requestPage({ response }, 'show=response'), /none.*5\.12 kB, streamed/s)
})

t.test('a request says where it came from, or that it is unknown', async t => {
  const { request, routing } = profile()
  const page = text(
    requestPage({
      host: null,
      ip: null,
      requestId: null,
      routing: { ...routing, matched: null },
      request: { ...request, headers: [] },
    }),
  )
  t.match(page, /Host none Route none IP address unknown Protocol http, HTTP\/1\.1 Request ID none/)
  t.match(requestPage({ request: { ...request, headers: [['Host', 'a.example:8080']] } }), /<dt>Host.*a\.example:8080/s)
})

const body = (value: Json, contentType: string | null) =>
  requestPage({ request: { ...profile().request, body: value, contentType, bodySize: 15 } })

t.test('a JSON body is indented and highlighted', async t => {
  t.match(
    body({ email: 'a@b', on: true }, 'application/json'),
    /application\/json · 15 B<\/small>.*&quot;email&quot;: <span class="string">&quot;a@b&quot;<\/span>,\n {2}&quot;on&quot;: <span class="keyword">true/s,
  )
  t.match(body([1], null), /<pre class="json".*\n {2}1\n/s)
})

t.test('a form is shown as pairs, text as it is, and a bare value as a value', async t => {
  t.match(body({ email: 'a@b' }, 'application/x-www-form-urlencoded'), /<dt>email.*a@b/s)
  t.match(body('plain', 'text/plain'), '<pre tabindex="0"><code>plain')
  t.match(body(7, 'application/json'), '<code>7</code>')
  t.notMatch(requestPage({ request: { ...profile().request, body: 'x', bodySize: null } }), '<h3>Body <small>')
})

t.test('the files of a multipart form have their names, types and sizes', async t => {
  const page = text(
    body(
      {
        photo: { filename: 'lily.png', mimetype: 'image/png', size: 48_200 },
        note: { value: 'a gift', mimetype: 'text/plain' },
        other: [{ filename: 7 }, 'plain', { strange: 1 }],
      },
      'multipart/form-data; boundary=x',
    ),
  )
  t.match(page, /photo lily\.png image\/png 48\.2 kB note a gift text\/plain other unnamed other plain other .*strange/)
})

t.test('the performance panel says where the time went, then what was slow, then what ran', async t => {
  const page = text(renderProfilePage(context(profile()), panels, 'performance'))
  t.match(page, /Where 24\.6 ms went each millisecond counted once Event loop busy 31% · Heap 31\.4 MB/)
  t.match(page, /SQL 14\.3 58% Hooks 5\.45 22% Handler 3\.20 13% Sending 0\.50 Cache 0\.10 Unaccounted 1\.05/)
  t.match(page, /Slowest five ms and share .*select platforms .*9\.30 .*38%/)
  t.match(page, /Waterfall .*What ran ms Share .*lookUpLicense onRequest/)
  t.notMatch(page, 'Findings')
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
  const page = text(renderProfilePage(context(slow), panels, 'performance'))
  t.match(page, 'Findings 4')
  t.match(page, /show, its own code: 40\.0 ms, 40% of the request\. Its own code, or .*plugins\/ locale\.ts:12/)
  t.match(page, /N\+1: 10 queries of one shape, 20\.0 ms\. One query could fetch all the rows\./)
  t.match(page, /slowHook: 18\.0 ms, 18% of the request\. It delays every request that it runs for\./)
  t.match(page, /2 × call: 20\.0 ms, 20% of the request\. The calls together\./)
})

t.test('a single slow call and lost time are findings, too', async t => {
  const spans = [span({ kind: 'query', name: 'select t', hook: null, start: 0, duration: 30 })]
  const page = text(renderProfilePage(context(profile({ duration: 100, spans, lifecycle: [] })), panels, 'performance'))
  t.match(page, '70.0 ms unaccounted, 70% of the request.')
  t.match(page, 'select t: 30.0 ms, 30% of the request.')
})

t.test('the five slowest do not claim more than the request, when they ran at once', async t => {
  const spans = [0, 1].map(n => span({ kind: 'query', name: `select ${n}`, hook: null, start: 0, duration: 90 }))
  const page = text(renderProfilePage(context(profile({ duration: 100, spans, lifecycle: [] })), panels, 'performance'))
  t.match(page, 'Slowest five ms and share ')
})

t.test('the Markdown of the performance has the kinds, the findings and the slowest calls', async t => {
  const markdown = renderProfileMarkdown(context(slow), panels, 'performance')
  t.match(markdown, /\| Handler \| 40\.0 ms \| 40% \|.*- show, its own code: 40\.0 ms.*`plugins\/locale\.ts:12:7`/s)
  t.match(markdown, /### Slowest calls.*\| slowHook \| 18\.0 ms \| 18% \|\s+\|/s)
})

t.test('the exception panel shows the chain', async t => {
  t.match(renderProfilePage(context(failedProfile()), panels, 'exception'), /MuseumError.*AggregateError/s)
})

t.test('the lifecycle panel shows what interrupted which dispatch point', async t => {
  const page = renderProfilePage(context(notFoundProfile()), panels, 'lifecycle')
  t.match(page, 'Interrupted by rejectUnmatched with NotFoundHttpError: No route found')
  t.match(page, /class="interrupting".*rejectUnmatched/s)
  t.match(page, /kernel\.controller<\/h3>.*Not reached/s)
})

t.test('an interruption before any listener, by a response or by a span left out is shown too', async t => {
  const [point] = notFoundProfile().lifecycle
  if (point === undefined) return t.fail()
  const page = (interrupted: NonNullable<typeof point.interrupted>, listeners = [2, 99]): string =>
    renderProfilePage(
      context(notFoundProfile({ lifecycle: [{ ...point, listeners, interrupted }] })),
      panels,
      'lifecycle',
    )
  t.match(page({ span: null, exception: 99 }), 'Interrupted by Fastify itself with an error that was not recorded')
  t.match(
    page({ span: null, exception: 0 }, []),
    'Interrupted by Fastify itself, before any listener ran, with NotFoundHttpError',
  )
  t.match(page({ span: 99, exception: 0 }), 'Interrupted by a listener that was not recorded with NotFoundHttpError')
})

t.test('the routing panel shows the route that matched', async t => {
  t.match(
    renderProfilePage(context(profile()), panels, 'routing'),
    /GET \/museums\/:id.*showMuseum.*routes\/.*Parameters.*The application has 14 routes/s,
  )
  t.match(
    renderProfilePage(
      context(
        profile({
          routing: {
            ...profile().routing,
            matched: {
              method: ['GET'],
              url: '/',
              host: 'a.example',
              handler: 'home',
              plugin: null,
              location: null,
              params: {},
            },
          },
        }),
      ),
      panels,
      'routing',
    ),
    /a\.example.*none.*unknown/s,
  )
})

t.test('the routing panel of an unmatched request shows the nearest routes, or that there are none', async t => {
  const page = renderProfilePage(context(notFoundProfile()), panels, 'routing')
  t.match(page, /Same path, but only for POST.*Add a slash at the end.*Add “s”/s)
  const [miss] = notFoundProfile().routing.nearMisses
  if (miss === undefined) return t.fail()
  t.match(
    renderProfilePage(
      context(notFoundProfile({ routing: { matched: null, routes: 1, nearMisses: [{ ...miss, reason: 'slash' }] } })),
      panels,
      'routing',
    ),
    'Drop the slash at the end',
  )
  t.match(
    renderProfilePage(
      context(notFoundProfile({ routing: { matched: null, routes: 1, nearMisses: [] } })),
      panels,
      'routing',
    ),
    'No route matches <code>GET /version</code>, and none is similar. The application has 1 route.',
  )
})

t.test('each reason why a near route did not match is said with what would match', async t => {
  const [miss] = notFoundProfile().routing.nearMisses
  if (miss === undefined) return t.fail()
  const said = (changes: Partial<NearMiss>) => nearMissText({ ...miss, ...changes }, '/version')
  t.equal(said({ reason: 'host', host: 'a.example' }), 'Same path, but only on host a.example')
  t.equal(said({ reason: 'host' }), 'Same path, but only on host another')
  t.equal(said({ reason: 'version', version: '2' }), 'Same path, but only in version 2')
  t.equal(said({ reason: 'version' }), 'Same path, but only in version another')
  t.equal(said({ reason: 'constraint' }), 'Same path under another constraint')
  t.equal(said({ reason: 'parameter' }), 'A parameter does not match its pattern')
  t.equal(said({ reason: 'case' }), 'Same path in another case')
})

t.test('the methods of one path are in one row, and what differs is marked', async t => {
  const [first, , third] = notFoundProfile().routing.nearMisses
  if (first === undefined || third === undefined) return t.fail()
  const nearMisses = [first, { ...first, method: ['PUT', 'POST'] }, { ...third, url: '/versions', version: '2' }]
  const page = renderProfilePage(
    context(notFoundProfile({ path: '/xversion', routing: { matched: null, routes: 3, nearMisses } })),
    panels,
    'routing',
  )
  t.match(page, '<span class="badge differs">POST</span> <span class="badge differs">PUT</span>')
  t.match(
    page,
    '<code>/<del>x</del>version<mark class="differs">s</mark></code> <span class="muted">on api.example</span> <span class="muted">version 2</span>',
  )
})

t.test('the configuration panel shows versions, settings, the plugin tree and routes', async t => {
  const page = text(renderProfilePage(context(profile()), panels, 'configuration'))
  t.match(page, /fastify 5\.12\.8.*DEFAULT_LOCALE en.*root 182 ms.*entities 2\.00 ms.*POST \/versions on api\.example/)
})

t.test('a configuration that is no longer stored is reported as such', async t => {
  const of = context(profile(), { configuration: null })
  t.match(renderProfilePage(of, panels, 'configuration'), 'no longer stored')
  t.match(renderProfileMarkdown(of, panels, 'configuration'), 'No longer stored.')
})

t.test('a missing environment is shown as not set', async t => {
  const of = context(profile())
  if (of.configuration === null) return t.fail()
  t.match(
    renderProfilePage({ ...of, configuration: { ...of.configuration, environment: null } }, panels, 'configuration'),
    'not set',
  )
})

t.test('the Markdown has every panel with data', async t => {
  const markdown = renderProfileMarkdown(
    context(failedProfile({ notes: ['A note.'], dropped: [{ what: 'logs', count: 2, why: 'Full.' }] })),
    panels,
  )
  for (const title of [
    '# 500 Internal Server Error: `GET /museums/7`',
    '## Request / Response',
    '## Performance',
    '## Exception',
    '## Logs',
    '## Lifecycle',
    '## Routing',
    '## Configuration',
    '## License',
    '- Note: A note.',
    '- logs: 2 left out. Full.',
  ]) {
    t.match(markdown, title)
  }
  t.notMatch(markdown, '## Security')
})

t.test('the Markdown of one panel has only that panel', async t => {
  const markdown = renderProfileMarkdown(
    context(profile({ host: null, ip: null, request: { ...profile().request, body: { a: 1 } } })),
    panels,
    'request',
  )
  t.match(markdown, '### Query')
  t.notMatch(markdown, '## Performance')
})

t.test('the Markdown of the lifecycle has what was not reached and what interrupted it', async t => {
  const markdown = renderProfileMarkdown(
    context(notFoundProfile({ spans: notFoundProfile().spans.map(span => ({ ...span, hook: null, location: null })) })),
    panels,
    'lifecycle',
  )
  t.match(markdown, /Interrupted by rejectUnmatched.*Not reached\./s)
})

t.test('the Markdown of the lifecycle skips a listener that was left out', async t => {
  const [point] = profile().lifecycle
  if (point === undefined) return t.fail()
  t.notMatch(
    renderProfileMarkdown(context(profile({ lifecycle: [{ ...point, listeners: [99] }] })), panels, 'lifecycle'),
    'Listener',
  )
})

t.test('the menu counts the most severe log lines, or all if there are no problems', async t => {
  const menu = (levels: number[]): string =>
    renderProfilePage(
      context(profile({ logs: levels.map(level => ({ level, start: 0, message: '', fields: {} })) })),
      panels,
      'request',
    )
  t.match(menu([30, 40, 50]), 'Logs <span class="fact error">1 error<')
  t.match(menu([40, 40]), 'Logs <span class="fact warning">2 warnings<')
  t.match(menu([]), 'class="empty">Logs')
  t.match(menu([10, 20, 30]), 'Logs <span class="fact neutral">3<')
})

t.test('the Markdown of an empty request has no empty table', async t => {
  const request = { ...profile().request, query: {}, headers: [] }
  t.notMatch(
    renderProfileMarkdown(
      context(
        profile({ request, response: { ...profile().response, streamed: true, contentType: null }, requestId: null }),
      ),
      panels,
      'request',
    ),
    '### Query',
  )
})

t.test('the Markdown of the routing has the route, or says that none is similar', async t => {
  t.match(renderProfileMarkdown(context(profile()), panels, 'routing'), 'Matched `GET /museums/:id`')
  t.match(
    renderProfileMarkdown(
      context(notFoundProfile({ routing: { matched: null, routes: 0, nearMisses: [] } })),
      panels,
      'routing',
    ),
    'No route matches `GET /version`, and none is similar.',
  )
})

t.test(
  'the Markdown of the exception panel has the nearest routes of a path without one, and no empty table',
  async t => {
    const text = renderProfileMarkdown(context(notFoundProfile({ logs: [] })), panels, 'exception')
    t.match(text, /### Nearest routes\n.*### Exceptions \(\d\).*### Logs \(0\)\n\n### Stack Traces/s)
  },
)

t.test('a panel whose Markdown fails shows the error', async t => {
  t.match(renderProfileMarkdown(context(profile()), [broken]), 'This panel could not be shown: Error: no markdown')
})
