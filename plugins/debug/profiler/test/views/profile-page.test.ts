import t from 'tap'
import type { AnyPanel } from '../../collect/panel.ts'
import { renderProfileMarkdown } from '../../show/markdown/profile-markdown.ts'
import { renderProfilePage } from '../../show/pages/profile-page.ts'
import { panels } from './example-panels.ts'
import { context, failedProfile, licensePanel, notFoundProfile, profile } from './example-profile.ts'

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

t.test('the header summarizes the request', async t => {
  t.match(
    text(renderProfilePage(context(profile()), panels, 'request')),
    '200 OK GET /museums/7?lang=fr&amp;page=2 Duration 24.6 ms Host http://louvre.example Route /museums/:id IP 127.0.0.1 Time 2026-11-21 01:11:07.482 UTC License Louvre Token',
  )
})

t.test('the menu lists every panel, marks the open one, greys out empty ones and shows badges', async t => {
  const page = renderProfilePage(context(profile()), panels, 'logs')
  t.match(page, /panel=logs" aria-current="page">Logs <span class="badge warning">1</)
  t.match(page, /panel=exception" class="empty">Exception<span class="sr-only"> \(empty\)/)
  t.match(page, /panel=license">License <span class="badge good">cache/)
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
  t.match(renderProfilePage(context(profile()), panels, 'nope'), '<h2>nope</h2>')
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

t.test('the host is shown as sent, with its port', async t => {
  const { request } = profile()
  const page = renderProfilePage(
    context(profile({ request: { ...request, headers: [['Host', 'louvre.example:8080']] } })),
    panels,
    'request',
  )
  t.match(page, '<dd>http://louvre.example:8080</dd>')
})

t.test('a request without a host says so', async t => {
  const { request } = profile()
  t.match(
    text(renderProfilePage(context(profile({ host: null, request: { ...request, headers: [] } })), panels, 'request')),
    'Host none Route',
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

t.test('the request panel shows what was sent and names what was not', async t => {
  const page = renderProfilePage(
    context(profile({ request: { ...profile().request, cookies: {} } })),
    panels,
    'request',
  )
  t.match(
    page,
    /<h3>Query.*<h3>Route parameters.*<h3>Request headers.*The request had no cookies, no body\..*<h3>Response headers/s,
  )
})

t.test('a body is shown as pairs, as text or as a value', async t => {
  const body = (value: Parameters<typeof profile>[0]) => renderProfilePage(context(profile(value)), panels, 'request')
  const request = profile().request
  t.match(
    body({ request: { ...request, body: { email: 'a@b' }, contentType: 'application/json', bodySize: 15 } }),
    /application\/json · 15 B.*<dt>email/s,
  )
  t.match(body({ request: { ...request, body: 'plain', bodySize: null } }), /<pre tabindex="0"><code>plain/)
  t.match(
    body({
      request: { ...request, body: [1, 2] },
      response: { ...profile().response, streamed: true, contentType: null },
      requestId: null,
    }),
    /<code>\[1,2\].*streamed/s,
  )
})

t.test(
  'the performance panel sums self time by kind and by plugin, with queries counted for their callers',
  async t => {
    const page = text(renderProfilePage(context(profile()), panels, 'performance'))
    t.match(page, /By kind Name Calls Self time query 3 20\.2 ms/)
    t.match(page, /By plugin Name Calls Self time museums 3 18\.6 ms/)
    t.match(page, /no plugin 1 0\.3 ms/)
  },
)

t.test("a cycle of parents does not hang the search for a span's plugin", async t => {
  const [span] = profile().spans
  if (span === undefined) return t.fail()
  t.match(
    renderProfilePage(context(profile({ spans: [{ ...span, plugin: null, parent: 0 }] })), panels, 'performance'),
    'no plugin',
  )
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
  t.match(page, /same path, different method.*with a trailing slash.*similar path/s)
  const [miss] = notFoundProfile().routing.nearMisses
  if (miss === undefined) return t.fail()
  t.match(
    renderProfilePage(
      context(notFoundProfile({ routing: { matched: null, routes: 1, nearMisses: [{ ...miss, reason: 'slash' }] } })),
      panels,
      'routing',
    ),
    'without the trailing slash',
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

t.test('the configuration panel shows versions, settings, the plugin tree and routes', async t => {
  const page = text(renderProfilePage(context(profile()), panels, 'configuration'))
  t.match(page, /fastify 5\.12\.8.*DEFAULT_LOCALE en.*root 182 ms.*entities 2 ms.*POST \/versions on api\.example/)
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

t.test('the badge of the logs counts the most severe lines, or all if there are no problems', async t => {
  const menu = (levels: number[]): string =>
    renderProfilePage(
      context(profile({ logs: levels.map(level => ({ level, start: 0, message: '', fields: {} })) })),
      panels,
      'request',
    )
  t.match(menu([30, 40, 50]), 'Logs <span class="badge error">1')
  t.match(menu([40, 40]), 'Logs <span class="badge warning">2')
  t.match(menu([]), 'class="empty">Logs')
  t.match(menu([10, 20, 30]), 'Logs <span class="badge neutral">3')
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

t.test('a panel whose Markdown fails shows the error', async t => {
  t.match(renderProfileMarkdown(context(profile()), [broken]), 'This panel could not be shown: Error: no markdown')
})
