import Fastify, { type InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import profiler, { type ProfilerOptions } from '../index.ts'
import { escape } from '../core/view/html.ts'
import { plain } from '../core/view/markdown.ts'
import { makeFolder } from './folder.ts'
import {
  deferred,
  everythingStored,
  keptLines,
  listen,
  pageOf,
  profiledApp,
  profileOf,
  sendRaw,
} from './profiled-app.ts'

async function appWithProfiles(t: Test, options: ProfilerOptions = {}) {
  const app = await profiledApp(t, options)
  app.get('/fine', async () => 'fine')
  app.get('/broken', async () => {
    throw new Error('it broke', { cause: new AggregateError([new RangeError('one'), 'two'], 'several') })
  })
  const { token: fine } = await profileOf(app, '/fine')
  const { token: broken } = await profileOf(app, '/broken')
  return { app, fine, broken }
}

const accepts = { html: 'text/html', json: 'application/json', markdown: 'text/markdown' }

t.test('each page is available as HTML, JSON and Markdown', async t => {
  const { app, broken } = await appWithProfiles(t)
  for (const url of [
    '/_profiler',
    '/_profiler/',
    '/_profiler/search?status=500',
    '/_profiler/search_bar?panel=exception',
    '/_profiler/latest',
    `/_profiler/${broken}`,
    `/_profiler/${broken}?panel=logs`,
    `/_profiler/${broken}/exception`,
  ]) {
    for (const [form, accept] of Object.entries(accepts)) {
      const { statusCode, headers, body } = await app.inject({ url, headers: { accept } })
      t.equal(statusCode, 200, `${url} as ${form}`)
      t.match(headers['content-type'], accept)
      t.match(headers, {
        'x-robots-tag': 'noindex',
        'cache-control': 'no-store',
        vary: 'accept',
        'x-content-type-options': 'nosniff',
      })
      t.match(headers['content-security-policy'], /^default-src 'none'/)
      t.notMatch(headers['content-security-policy'], 'unsafe-inline')
      if (form === 'json') JSON.parse(body)
    }
  }
  t.match((await app.inject('/_profiler/latest')).headers['content-type'], 'application/json', 'curl gets JSON')
})

t.test('a profile with an exception opens at its exception panel', async t => {
  const { app, fine, broken } = await appWithProfiles(t)
  const open = async (path: string) => /aria-current="page"[^>]*>([^<]*)/.exec(await pageOf(app, path))?.[1]?.trim()
  t.equal(await open(broken), 'Exception')
  t.not(await open(fine), 'Exception')
  t.equal(await open(`${fine}?panel=logs`), 'Logs')
  t.equal(await open(`${fine}?panel=`), await open(fine))
  t.equal((await app.inject('/_profiler/latest')).json().token, broken)
})

t.test('the exception panel has the same sections and counts as the error page', async t => {
  const app = await profiledApp(t)
  app.get('/broken', async ({ log }) => {
    log.warn('it will break')
    throw new Error('it broke', { cause: new Error('worn out') })
  })
  const headings = (page: string) =>
    [...page.matchAll(/<section id="([\w-]+)"><h([23])>([\w ]+) <span class="count">(\d+)</g)].map(
      ([, id, level, ...counted]) => [level, id, counted.join(' ')].join(' '),
    )
  const sections = (level: number, logs: number) =>
    ['exceptions Exceptions 2', `logs Logs ${logs}`, 'stack-traces Stack Traces 2'].map(name => `${level} ${name}`)
  const answer = await app.inject({ url: '/broken', headers: { accept: 'text/html' } })
  t.strictSame(headings(answer.body), sections(2, 3))
  const { token, logs } = (await app.inject('/_profiler/latest')).json()
  const page = await pageOf(app, `${token}/exception`)
  t.strictSame(headings(page), sections(2, logs.length))
  t.match(page, /<main><h1>Error<\/h1>.*it will break/s)
  t.strictSame(headings(await pageOf(app, `${token}?panel=exception`)), sections(3, logs.length))
  for (const [path, level] of [
    [`${token}/exception`, '##'],
    [`${token}?panel=exception`, '###'],
  ] as const) {
    const markdown = await pageOf(app, path, 'text/markdown')
    for (const section of ['Exceptions (2)', `Logs (${logs.length})`, 'Stack Traces (2)']) {
      t.match(markdown, `\n${level} ${section}\n`)
    }
  }
  t.same((await app.inject(`/_profiler/${token}/exception`)).json().logs, logs)
})

t.test('the exception panel shows the nearest routes for a path without one, though nothing was thrown', async t => {
  const { app } = await appWithProfiles(t)
  await app.inject('/fie')
  const page = await pageOf(app, 'latest?panel=exception')
  t.match(page, /Nearest routes<.*<code>\/fi<mark class="differs">n<\/mark>e<.*Exceptions <span class="count">0</s)
  t.notMatch(page, 'class="empty">Exception')
})

t.test('a missing profile, panel or exception is a 404 that says so and lists the latest', async t => {
  const { app, fine } = await appWithProfiles(t)
  for (const [url, said] of [
    ['/_profiler/unknown', 'There is no profile "unknown"'],
    ['/_profiler/unknown/exception', 'There is no profile "unknown"'],
    ...['exception.css', 'file', 'har', 'curl'].map(
      name => [`/_profiler/unknown/${name}`, 'There is no profile "unknown"'] as const,
    ),
    [`/_profiler/compare/${fine}/unknown`, 'There is no profile "unknown"'],
    [`/_profiler/compare/unknown/${fine}`, 'There is no profile "unknown"'],
    [`/_profiler/${fine}?panel=unknown`, 'There is no panel "unknown"'],
    [`/_profiler/${fine}/exception`, 'had no exception'],
  ] as const) {
    for (const accept of Object.values(accepts)) {
      const { statusCode, body } = await app.inject({ url, headers: { accept } })
      t.equal(statusCode, 404, url)
      t.match(body.replaceAll('&quot;', '"').replaceAll('\\"', '"').replaceAll('\\', ''), said)
      t.match(body, fine)
    }
  }
  t.equal((await app.inject(`/_profiler/${fine}?panel=unknown`)).json().panels.join(', '), panelNames)
  t.match(await pageOf(app, `${fine}?panel=unknown`), `href="/_profiler/${fine}?panel=performance"`)
  t.match(await pageOf(app, `${fine}?panel=unknown`, 'text/markdown'), '| Performance | `performance` |')
})

t.test('assets are cacheable, and immutable if their version is requested', async t => {
  const { app, broken } = await appWithProfiles(t)
  const [, url = ''] = /"(\/_profiler\/assets\/[^"]+)"/.exec(await pageOf(app, broken)) ?? []
  t.match((await app.inject(url)).headers['cache-control'], 'immutable')
  t.match((await app.inject(url.replace(/\?.*/, ''))).headers['cache-control'], 'no-cache')
  t.equal((await app.inject('/_profiler/assets/none')).statusCode, 404)
  const css = await app.inject(`/_profiler/${broken}/exception.css`)
  t.match(css.headers, { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'private, max-age=3600' })
})

t.test('only trusted addresses are answered, and forwarded headers can only remove trust', async t => {
  const { app, fine } = await appWithProfiles(t, { allow: ['10.1.0.0/16', '192.0.2.7', '2001:db8::/32'] })
  const url = `/_profiler/${fine}`
  const unknown = await app.inject({ url: '/nothing', remoteAddress: '203.0.113.1' })
  const forwarding = {
    'x-forwarded-for': ['203.0.113.1', '127.0.0.1, 203.0.113.1', ', ,'],
    forwarded: ['proto=https', 'for=unknown', 'for=127.0.0.1, For="203.0.113.1"', 'nothing'],
    via: ['1.1 proxy'],
    'x-forwarded-proto': ['https'],
    'x-forwarded-prefix': ['/a'],
    'cdn-loop': ['cloudflare'],
    ...Object.fromEntries(
      ['x-real-ip', 'true-client-ip', 'x-client-ip', 'x-cluster-client-ip', 'fly-client-ip', 'fastly-client-ip']
        .concat('x-original-forwarded-for', 'x-envoy-external-address')
        .map(name => [name, ['203.0.113.1']]),
    ),
  }
  const trusted = ['127.9.9.9', '::1', '::ffff:127.0.0.1', '10.1.2.3', '192.0.2.7', '2001:db8::5']
  const strange = ['10.2.0.1', '203.0.113.1', '::ffff:203.0.113.1', 'no address']
  type Sent = [remoteAddress: string, headers: Record<string, string>, status: number]
  for (const [remoteAddress, headers, status] of [
    ...trusted.map((address): Sent => [address, {}, 200]),
    ...strange.map((address): Sent => [address, {}, 404]),
    ...Object.entries(forwarding).flatMap(([name, values]) =>
      values.map((value): Sent => ['127.0.0.1', { [name]: value }, 404]),
    ),
    ['203.0.113.1', { 'x-forwarded-for': '127.0.0.1' }, 404],
    ['127.0.0.1', { 'cf-connecting-ip': '203.0.113.1', 'x-forwarded-for': '127.0.0.1' }, 404],
    ['127.0.0.1', { 'x-forwarded-for': '10.1.0.1:443, 127.0.0.1' }, 200],
    ['127.0.0.1', { forwarded: 'proto=https;for="[2001:db8::5]:80";by=x' }, 200],
    ['127.0.0.1', { via: '1.1 proxy', 'true-client-ip': '10.1.2.3' }, 200],
  ] satisfies Sent[]) {
    const { statusCode, body } = await app.inject({ url, remoteAddress, headers: { ...headers } })
    t.equal(statusCode, status, `${remoteAddress} ${JSON.stringify(headers)}`)
    if (status === 404) t.same(Object.keys(JSON.parse(body)), Object.keys(unknown.json()), 'like an unknown path')
  }
})

t.test('without access, everything below the profiler is an unknown path', async t => {
  const { app, fine } = await appWithProfiles(t)
  const actions = [`${fine}/replay`, `${fine}/samples`, `${fine}/browser`, `compare/${fine}/${fine}`, 'mcp']
  const pages = [
    '',
    'latest',
    'search',
    'events',
    'boot',
    'mcp',
    'compare',
    ...['file', 'har', 'curl'].map(name => `${fine}/${name}`),
  ]
  for (const [method, paths] of [
    ['GET', pages],
    ['POST', actions],
  ] as const) {
    for (const path of paths) {
      const url = `/_profiler/${path}`
      const { statusCode, body } = await app.inject({ method, url, remoteAddress: '203.0.113.5' })
      t.equal(statusCode, 404)
      t.equal(JSON.parse(body).message, `Route ${method}:${url} not found`)
    }
  }
})

t.test('only pages of the same origin have something done', async t => {
  const { app, fine } = await appWithProfiles(t)
  const host = 'localhost:4700'
  for (const path of [`${fine}/replay`, `${fine}/samples`, `${fine}/browser`, `compare/${fine}/${fine}`]) {
    const statusFor = async (headers: Record<string, string>) =>
      (await app.inject({ method: 'POST', url: `/_profiler/${path}`, headers })).statusCode
    for (const headers of [
      {},
      { origin: 'http://evil.test', host },
      { origin: 'null' },
      { origin: '' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: 'http://localhost:80' },
    ]) {
      t.equal(await statusFor({ ...headers }), 403, `${path} ${JSON.stringify(headers)}`)
    }
    t.not(await statusFor({ origin: `http://${host}`, host }), 403, path)
  }
})

/** Sets NODE_ENV during a test. */
function setEnvironment(t: Test, value: string): void {
  const { NODE_ENV } = process.env
  process.env.NODE_ENV = value
  t.teardown(() => {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = NODE_ENV
  })
}

t.test('in production a client on the same machine, such as a proxy that hides itself, sees nothing', async t => {
  setEnvironment(t, ' Production')
  const app = await profiledApp(t, { allow: ['192.0.2.7'] })
  app.get('/page', async (_request, reply) => reply.type('text/html').send('<body>page</body>'))
  const token = String((await app.inject('/page')).headers['x-debug-token'])
  const browser = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  for (const [remoteAddress, isViewer] of [
    ['127.0.0.1', false],
    ['::ffff:127.0.0.1', false],
    ['::1', false],
    ['192.0.2.7', true],
  ] as const) {
    for (const [url, method] of [
      ['/_profiler/', 'GET'],
      [`/_profiler/${token}`, 'GET'],
      [`/_profiler/${token}/har`, 'GET'],
      ['/_profiler/mcp', 'POST'],
      [`/_profiler/${token}/replay`, 'POST'],
      [`/_profiler/${token}/samples`, 'POST'],
    ] as const) {
      const { statusCode } = await app.inject({
        url,
        method,
        remoteAddress,
        ...(method === 'POST' && { payload: message }),
      })
      t.equal(statusCode !== 404, isViewer, `${method} ${url} from ${remoteAddress}`)
    }
    for (const url of ['/missing', '/page']) {
      const { body } = await app.inject({ url, remoteAddress, headers: browser })
      t.equal(body.includes('/_profiler/'), isViewer, `${url} from ${remoteAddress}`)
    }
    const { headers } = await app.inject({ url: '/page', remoteAddress, headers: { 'x-profile': 'cpu' } })
    await app.profiler.settled()
    const profile = await app.profiler.find(String(headers['x-debug-token']))
    t.equal(Boolean(profile?.samples), isViewer, `samples for ${remoteAddress}`)
  }
})

t.test('in production a listed proxy on the same machine shows the profiler to listed clients', async t => {
  setEnvironment(t, 'production')
  const { app } = await appWithProfiles(t, { allow: ['192.0.2.7', '127.0.0.1'] })
  for (const [client, status] of [
    ['192.0.2.7', 200],
    ['203.0.113.1', 404],
  ] as const) {
    const headers = { 'x-forwarded-for': client }
    t.equal((await app.inject({ url: '/_profiler/', headers })).statusCode, status, client)
  }
})

t.test('allowLoopback decides about the machine itself, whatever NODE_ENV is', async t => {
  const { app: closed } = await appWithProfiles(t, { allowLoopback: false })
  t.equal((await closed.inject('/_profiler/')).statusCode, 404)
  setEnvironment(t, 'production')
  const { app: open } = await appWithProfiles(t, { allowLoopback: true })
  t.equal((await open.inject('/_profiler/')).statusCode, 200)
})

t.test('nothing is shown under a host name that anybody could point here', async t => {
  const { app, fine } = await appWithProfiles(t, { isTrustedHost: host => host === 'museum.test' })
  const url = `/_profiler/${fine}`
  for (const [host, status] of [
    ['localhost:3000', 200],
    ['app.localhost', 200],
    ['127.0.0.1:80', 200],
    ['[::1]:80', 200],
    ['192.0.2.1', 200],
    ['museum.test:8080', 200],
    ['evil.test', 403],
    ['localhost.evil.test', 403],
    ['evil.test#.localhost', 403],
    ['me@.localhost', 403],
    ['.localhost', 403],
  ] as const) {
    t.equal((await app.inject({ url, headers: { host } })).statusCode, status, host)
  }
  const { port } = await listen(app)
  t.match(await sendRaw(port, `GET ${url} HTTP/1.0\r\n\r\n`), /^HTTP\/1\.1 403 /, 'nor without a host')
  for (const [headers, status] of [
    [{ host: 'evil.test', 'x-forwarded-host': 'localhost', 'x-forwarded-for': '127.0.0.1' }, 403],
    [{ host: 'localhost', 'x-forwarded-host': 'evil.test', 'x-forwarded-for': '127.0.0.1' }, 403],
    [{ host: 'localhost', forwarded: 'for=127.0.0.1;host=evil.test' }, 403],
    [{ host: 'localhost', forwarded: 'for=127.0.0.1;host=localhost, for=127.0.0.1; Host="evil.test:80"' }, 403],
    [{ host: 'localhost', forwarded: 'for=127.0.0.1;host="localhost:80"' }, 200],
  ] as const) {
    t.equal((await app.inject({ url, headers })).statusCode, status, JSON.stringify(headers))
  }
})

t.test('one file defines a panel: it is collected, listed, shown, searchable and in the toolbar', async t => {
  const app = await profiledApp(t, {
    labels: ['license'],
    panels: [
      {
        name: 'license',
        label: 'License',
        collect: ({ request }) => (request?.url === '/' ? { name: 'Louvre' } : null),
        labels: ({ name }) => ({ license: name }),
        badge: ({ name }) => ({ text: name, tone: 'good' }),
        view: ({ name }) => [{ text: `Licensed to ${name}` }],
      },
    ],
  })
  app.get('/', async () => 'ok')
  await app.inject('/')
  await app.inject('/other')
  t.match(await pageOf(app, 'search?license=louvre'), 'value="louvre"')
  const { profiles } = (await app.inject('/_profiler/search?license=louvre&panel=license')).json()
  t.equal(profiles.length, 1)
  const path = `${profiles[0].token}?panel=license`
  t.match(await pageOf(app, path), '<p>Licensed to Louvre</p>')
  t.match(await pageOf(app, path, 'text/markdown'), 'Licensed to Louvre')
  t.same((await app.inject(`/_profiler/${path}`)).json().data, { name: 'Louvre' })
  for (const search of ['search?license=', 'search']) {
    t.equal((await app.inject(`/_profiler/${search}`)).json().total, 2)
  }
})

const searched = appWithProfiles(t, { labels: ['license'] }).then(async ({ app }) => {
  await everythingStored(app)
  return app
})
const searchParameters =
  'status, method, sql, token, url, route, host, ip, exception, parent, statement, text, ' +
  'durationFrom, durationTo, timeFrom, timeTo, page, perPage, failed, sort, license, panel, period'
const panelNames =
  'request, performance, cpu, exception, logs, database, http-client, routing, lifecycle, configuration'
const takesTime = 'takes an ISO 8601 time such as 2026-11-22T09:30Z, or milliseconds since 1970'
for (const [query, ...problems] of [
  ['status=<b>', 'status takes 404, 4xx, >=400 or none, not "<b>".'],
  ['method=G ET', 'method takes the name of a method, not "G ET".'],
  ['durationFrom=long', 'durationFrom takes milliseconds, 0 or more, not "long".'],
  ['durationTo=0x10', 'durationTo takes milliseconds, 0 or more, not "0x10".'],
  ['page=0', 'page takes a whole number, 1 or more, not "0".'],
  ['page=9', 'There is no page 9. The last page is 1.'],
  ['perPage=201', 'perPage takes a whole number from 1 to 200, not "201".'],
  ['timeFrom=never', `timeFrom ${takesTime}, not "never".`],
  ['timeFrom=2026-02-30', `timeFrom ${takesTime}, not "2026-02-30".`],
  ['timeFrom=1764000000', `timeFrom ${takesTime}, not "1764000000".`],
  ['panel=nope', `panel takes the name of a panel (${panelNames}), not "nope".`],
  [
    'token[]=a&__proto__=b&constructor=',
    `A search has no "token[]", "__proto__", "constructor": it has ${searchParameters}.`,
  ],
  ['a=&b=&c=&d=&e=&f=&g=&a=', `A search has no "a", "b", "c", "d", "e" or 2 more: it has ${searchParameters}.`],
  [`url=${'x'.repeat(100_000)}`, `url takes up to 4000 characters, not "${'x'.repeat(60)}…".`],
  ['perPage=&panel=&status=%20'],
  ['status=>= 200&method=get&durationFrom=0&durationTo=1e9&timeFrom=2020-01-01&page=1&perPage=200&panel=logs'],
] as const) {
  t.test(`a search for ${query.slice(0, 50)} reports ${problems[0] ?? 'nothing'}`.slice(0, 120), async t => {
    const app = await searched
    const written = query.replaceAll(' ', '%20').replaceAll('<', '%3C').replaceAll('>', '%3E')
    for (const path of ['/_profiler/search', '/_profiler/', '/_profiler/search_bar']) {
      // Without results there are no further pages.
      if (path.endsWith('bar') && query === 'page=9') continue
      const url = `${path}?${written}`
      const { total, problems: said } = (await app.inject(url)).json()
      t.strictSame(said, problems)
      if (!path.endsWith('bar')) t.equal(total, 2, 'it finds the same without the invalid parameter')
      const place = url.replace('/_profiler/', '')
      const [page, markdown] = [await pageOf(app, place), await pageOf(app, place, 'text/markdown')]
      for (const problem of problems) {
        t.ok(page.includes(`<p class="notice warning">${escape(problem)}</p>`), problem)
        t.ok(markdown.includes(plain(problem)), problem)
      }
      t.ok(page.length < 40_000)
    }
  })
}

const soon = new Date(Date.now() + 600_000)
for (const [query, total, ...problems] of [
  [`timeTo=${soon.toISOString().slice(0, 19)}`, 2],
  [`timeFrom=${soon.toISOString().slice(0, 19)}`, 0],
  [`timeFrom=${soon.getTime()}`, 0],
  ['durationFrom=600000', 0],
  ['exception=IT+BROKE', 1],
  ['status=500&status=200&status=', 1, 'status is given 2 times. The first one counts.'],
  ['durationFrom=10&durationTo=5', 0, 'durationFrom is greater than durationTo, so nothing can match.'],
] as const) {
  t.test(`a search for ${query.replace(/=\d{4}.*/, '= a time')} finds ${total} of two requests`, async t => {
    t.match((await (await searched).inject(`/_profiler/search?${query}`)).json(), { total, problems })
  })
}

t.test('hostile values find nothing and break nothing', async t => {
  const app = await searched
  for (const name of ['token', 'url', 'route', 'host', 'ip', 'exception', 'parent', 'license']) {
    const values = ['%00', '__proto__', 'constructor', '%ff%fe', '%', '..%2f..%2fetc', '%ed%a0%80', '(a%2B)%2B$', '-1']
    for (const value of [...values, '[object Object]']) {
      for (const accept of Object.values(accepts)) {
        const { statusCode } = await app.inject({ url: `/_profiler/search?${name}=${value}`, headers: { accept } })
        t.equal(statusCode, 200, `${name}=${value}`)
      }
      t.equal((await app.inject(`/_profiler/search?${name}=${value}`)).json().total, 0, `${name}=${value}`)
    }
  }
})

t.test('a time is ISO 8601 with or without a zone, or milliseconds', async t => {
  const app = await searched
  const half = Date.UTC(2026, 10, 22, 9, 30)
  for (const [value, time] of [
    ['2026-11-22', Date.UTC(2026, 10, 22)],
    ['2026-11-22T09:30', half],
    ['2026-11-22%2009:30', half],
    ['2026-11-22T10:30%2B01:00', half],
    ['2026-11-22T04:00:00-05:30', half],
    ['2026-11-22T09:30:00.125Z', half + 125],
    [String(half), half],
  ] as const) {
    const found = (await app.inject(`/_profiler/search_bar?timeFrom=${value}`)).json()
    t.match(found, { criteria: { timeFrom: time }, problems: { length: 0 } }, value)
  }
})

t.test('a search for one token opens that profile, in the requested panel', async t => {
  const { app, broken, fine } = await appWithProfiles(t)
  for (const accept of Object.values(accepts)) {
    // As the form sends it.
    const { statusCode, headers } = await app.inject({
      url: `/_profiler/search?url=&method=&timeFrom=&token=+${broken}`,
      headers: { accept },
    })
    t.equal(statusCode, 302)
    t.equal(headers.location, `/_profiler/${broken}`)
  }
  const found = (await app.inject(`/_profiler/search?panel=logs&token=${fine}`)).headers.location
  t.equal(found, `/_profiler/${fine}?panel=logs`)
  for (const [query, total] of [
    [`token=${fine}&status=200`, 1],
    [`token=${fine}&status=500`, 0],
    [`token=${fine}&panel=nope`, 1],
    ['token=unknown', 0],
    [`token=${fine}&x=y`, 1],
  ] as const) {
    t.match((await app.inject(`/_profiler/search?${query}`)).json(), { total }, query)
  }
})

t.test('a failure tells how often its class and line have been seen, with a link to the others', async t => {
  const app = await profiledApp(t)
  app.get('/elsewhere', async () => {
    throw new Error('<no> museum 1 here')
  })
  app.get<{ Params: { id: string } }>('/:id', async request => {
    throw new Error(`<no> museum ${request.params.id} here`)
  })
  await profileOf(app, '/elsewhere')
  t.notMatch(await pageOf(app, (await profileOf(app, '/1')).token), '<dt>Seen')
  const page = await pageOf(app, (await profileOf(app, '/2')).token)
  const [, link = ''] = /<a href="([^"]+)">2 times<\/a>, first <time/.exec(page) ?? []
  const found = await app.inject({ url: link.replaceAll('&amp;', '&'), headers: { accept: 'application/json' } })
  const urls: string[] = found.json().profiles.map(({ url }: { url: string }) => url)
  t.same(urls, ['/2', '/1'])
})

t.test('a page links to the requests before and after, in the same panel', async t => {
  const app = await profiledApp(t)
  app.get('/:name', async () => 'ok')
  const tokens: string[] = []
  for (const name of ['one', 'two', 'three']) {
    tokens.push((await profileOf(app, `/${name}`)).token)
    await app.profiler.settled()
  }
  const [first, second, third] = tokens
  const page = await pageOf(app, `${second}?panel=logs`)
  t.match(page, `rel="prev" href="/_profiler/${first}?panel=logs"`)
  t.match(page, `rel="next" href="/_profiler/${third}?panel=logs"`)
})

t.test('the home page is about the last quarter of an hour, or about the period asked for', async t => {
  const app = await profiledApp(t)
  app.get('/', async () => 'ok')
  t.notMatch(await pageOf(app, ''), 'What matters lately', 'nothing has happened yet')
  await app.inject('/')
  t.match(await pageOf(app, ''), 'period=15min" aria-current="true"')
  t.match(await pageOf(app, '?period=all'), 'period=all" aria-current="true"')
  t.notMatch(await pageOf(app, '?page=2'), 'What matters lately')
})

t.test('the waterfall folds what is shorter than the query asks for', async t => {
  const app = await profiledApp(t)
  app.get('/', async () => 'ok')
  const { token } = await profileOf(app, '/')
  const folding = async (fold: string) => pageOf(app, `${token}?panel=performance&fold=${fold}`)
  t.match(await folding('900000'), 'each under 900,000 ms')
  t.notMatch(await folding('0'), 'each under')
})

t.test('an invalid option fails at start-up with an explanation', async t => {
  await t.rejects(profiledApp(t, { base: 'profiler' }), /The profiler's "base" must be a path/)
  await t.rejects(profiledApp(t, { allow: ['anyone'] }), /takes IP addresses and networks, not "anyone"/)
  const panel = { name: 'logs', label: 'Again', collect: () => null, view: () => [] }
  await t.rejects(profiledApp(t, { panels: [panel] }), /two panels named "logs"/)
  await t.rejects(profiledApp(t, { panels: [{ ...panel, name: 'a b' }] }), /letters, digits, - and _, not "a b"/)
})

t.test('the rule for trusted hosts may be asynchronous', async t => {
  const { app, fine } = await appWithProfiles(t, { isTrustedHost: async host => host === 'museum.test' })
  for (const [host, forwarded, status] of [
    ['museum.test', 'museum.test', 200],
    ['museum.test', 'evil.test', 403],
    ['evil.test', 'museum.test', 403],
  ] as const) {
    const headers = { host, 'x-forwarded-host': forwarded, 'x-forwarded-for': '127.0.0.1' }
    t.equal((await app.inject({ url: `/_profiler/${fine}`, headers })).statusCode, status)
  }
  const page = await app.inject({ url: '/broken', headers: { host: 'museum.test', accept: 'text/html' } })
  t.equal(page.json().message, 'it broke', 'too late for the response under that name')
})

t.test("a trust rule that throws is logged: the profiler's page fails, and the request does not", async t => {
  const { logger, messages } = keptLines('warn')
  const isTrustedHost = () => {
    throw new Error('no rule')
  }
  const app = await profiledApp(t, { isTrustedHost }, { logger })
  const headers = { host: 'museum.test', accept: 'text/html' }
  t.equal((await app.inject({ url: '/', headers })).statusCode, 404)
  t.equal((await app.inject({ url: '/_profiler/', headers })).statusCode, 500)
  t.same(messages, ['The profiler failed; the request did not', 'The profiler failed to show a page'])
})

t.test('with a trust rule that rejects, another method on a page is an unknown path', async t => {
  const app = await profiledApp(t, { isTrustedHost: async () => Promise.reject(new Error('no rule')) })
  const answer = await app.inject({ method: 'POST', url: '/_profiler/', headers: { host: 'museum.test' } })
  t.match(answer, { statusCode: 404, headers: { allow: undefined } })
})

for (const [statusCode, answered, told] of [
  [401, 401, /^This request was refused: Sign in first\n$/],
  [503, 503, /^The profiler failed to show this page\./],
  [200, 500, /^The profiler failed to show this page\./],
] as const) {
  t.test(`an error of the application's hook with the status ${statusCode} answers ${answered} on a page`, async t => {
    const app = Fastify()
    t.teardown(() => app.close())
    app.addHook('preHandler', async function refuse() {
      throw Object.assign(new Error('Sign in first'), { statusCode })
    })
    await app.register(profiler, { directory: makeFolder() })
    const { statusCode: status, body } = await app.inject('/_profiler/')
    t.equal(status, answered)
    t.match(body, told)
  })
}

t.test("an unknown path under the profiler's base is a 404 of the profiler, without a profile", async t => {
  const { app, fine } = await appWithProfiles(t)
  for (const path of ['a/b', 'assets/none', 'assets/a/b', `${fine}/exception/more`, 'x'.repeat(200)]) {
    for (const accept of Object.values(accepts)) {
      const { statusCode, headers, body } = await app.inject({ url: `/_profiler/${path}`, headers: { accept } })
      t.equal(statusCode, 404, path)
      t.match(body, path.replaceAll('_', accept === 'text/markdown' ? '\\_' : '_'))
      t.match(body, fine)
      t.equal(headers['x-debug-token'], undefined)
    }
  }
  const strange = await app.inject({ url: '/_profiler/a/b', remoteAddress: '203.0.113.1' })
  t.equal(strange.json().message, 'Route GET:/_profiler/a/b not found', "another client gets the application's 404")
})

t.test('a superfluous slash redirects to the page without it', async t => {
  const { app, fine } = await appWithProfiles(t)
  for (const [url, location] of [
    [`/_profiler/${fine}/`, `/_profiler/${fine}`],
    [`/_profiler/${fine}/?panel=logs`, `/_profiler/${fine}?panel=logs`],
    [`/_profiler/${fine}/exception/`, `/_profiler/${fine}/exception`],
    ['/_profiler/search//', '/_profiler/search'],
    ['/_profiler//', '/_profiler'],
    ['/_profiler//evil.test/%2f/', '/_profiler/evil.test'],
  ] as const) {
    const { statusCode, headers } = await app.inject(url)
    t.equal(statusCode, 308, url)
    t.equal(headers.location, location)
  }
})

for (const [what, routerOptions] of Object.entries({
  'a trailing slash': { ignoreTrailingSlash: true },
  'double slashes': { ignoreDuplicateSlashes: true },
  case: { caseSensitive: false },
  'all of them': { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, caseSensitive: false },
})) {
  t.test(`every page can be reached if the router ignores ${what}`, async t => {
    const app = await profiledApp(t, {}, { routerOptions })
    app.get('/broken', async () => {
      throw new Error('it broke')
    })
    const { token } = await profileOf(app, '/broken')
    const options = { ignoreTrailingSlash: false, ignoreDuplicateSlashes: false, caseSensitive: true, ...routerOptions }
    const found = { token }
    for (const [url, expected] of [
      ['/_profiler', { total: 1 }],
      ['/_profiler/', { total: 1 }],
      ['/_profiler/search', { total: 1 }],
      [`/_profiler/${token}`, found],
      [`/_profiler/${token}/exception`, found],
      ...(options.ignoreDuplicateSlashes ? [[`//_profiler//${token}`, found] as const] : []),
      ...(options.caseSensitive ? [] : [[`/_PROFILER/${token}`, found] as const]),
    ] as const) {
      t.match((await app.inject(url)).json(), expected, url)
    }
    t.match((await app.inject(`/_profiler/${token}/exception.css`)).body, '.chain')
    t.match((await app.inject('/_profiler/assets/toolbar.js')).body, 'profiler-toolbar')
    t.match((await app.inject('/_profiler/a/b')).json().error, 'no page "a/b"')
    t.equal((await app.inject(`/_profiler/${token}/cpu`)).headers.location, `/_profiler/${token}?panel=cpu`)
    t.equal((await app.inject('/_profiler/unknown')).statusCode, 404)
    t.equal((await app.inject(`/_profiler/${token}/`)).statusCode, options.ignoreTrailingSlash ? 200 : 308)
    t.equal((await app.inject('/_profiler/search')).json().total, 1, 'none of them has a profile')
    for (const [url, isPage] of [
      ['/_profiler/search', true],
      ['/_profiler/%73earch', true],
      ['http://localhost/_profiler/search', true],
      ['/_PROFILER/Search', !options.caseSensitive],
      ['//_profiler//search', options.ignoreDuplicateSlashes],
      ['/_profiler/search/', options.ignoreTrailingSlash],
    ] as const) {
      if (isPage) t.equal((await app.inject({ method: 'POST', url })).statusCode, 405, url)
    }
  })
}

t.test('a request without a response yet is shown as still running', async t => {
  const app = await profiledApp(t)
  const { promise, resolve } = deferred()
  const asked = new Promise<string>(resolve => {
    app.get('/slow', async ({ recorder }) => {
      resolve(String(recorder?.token))
      await promise
      return 'done'
    })
  })
  const answer = app.inject('/slow').then()
  const token = await asked
  for (const path of ['', '/exception', '/exception.css']) {
    const { statusCode, body } = await app.inject(`/_profiler/${token}${path}`)
    t.equal(statusCode, 404)
    t.match(JSON.parse(body).error, `Request ${token} is still running`)
  }
  resolve()
  await answer
  t.equal((await app.inject(`/_profiler/${token}`)).statusCode, 200)
})

t.test('a host is searched with its port, and a request by its whole URL', async t => {
  const app = await profiledApp(t)
  for (const host of ['localhost:4700', '[::1]:4700']) await app.inject({ url: '/version?a=b', headers: { host } })
  const total = async (name: string, value: string) =>
    (await app.inject(`/_profiler/search?${new URLSearchParams({ [name]: value })}`)).json().total
  for (const [name, value, found] of [
    ['host', 'localhost:4700', 1],
    ['host', 'localhost', 1],
    ['host', '[::1]:4700', 1],
    ['host', 'museum.test:4700', 0],
    ['url', 'http://localhost:4700/version?a=b#top', 1],
    ['url', 'http://museum.test/version', 0],
    ['url', '/version', 2],
  ] as const) {
    t.equal(await total(name, value), found, `${name} ${value}`)
  }
})

t.test('a wrong method on a page of the profiler is a 405 that names the allowed one', async t => {
  const { app, fine } = await appWithProfiles(t)
  const form = ['/search_bar', '/search_bar?panel=exception']
  const ofProfile = ['/latest', `/${fine}`, `/${fine}/exception`, `/${fine}/exception.css`]
  for (const path of ['', '/', '/search', ...form, ...ofProfile, '/assets/profiler.css', '/unknown']) {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const) {
      const headers = { 'content-type': 'application/json' }
      const answer = await app.inject({ method, url: `/_profiler${path}`, payload: '{', headers })
      t.match(answer, { statusCode: 405, headers: { allow: 'GET' } }, `${method} ${path}`)
      const message = `No route found for "${method} /_profiler${path.replace(/\?.*/, '')}": Method Not Allowed (Allow: GET)`
      t.match(answer.json(), { statusCode: 405, error: 'Method Not Allowed', message })
    }
  }
  // No pages, whatever the method, and a path of the application.
  for (const url of ['/_profiler/a/b', `/_profiler/${fine}/exception/more`, '/fine']) {
    t.equal((await app.inject({ method: 'POST', url })).statusCode, 404, url)
  }
})

t.test("an untrusted client gets no 405, but the application's answer for an unknown path", async t => {
  const app = await profiledApp(t, {
    isTrustedHost: host => {
      if (host === 'broken.test') throw new Error('no rule')
      return false
    },
  })
  app.setNotFoundHandler(async ({ method }) => ({ missing: method }))
  for (const [remoteAddress, host] of [
    ['203.0.113.1', 'localhost'],
    ['127.0.0.1', 'evil.test'],
    ['127.0.0.1', 'broken.test'],
  ] as const) {
    const ask = async (url: string) => {
      const request: InjectOptions = { method: 'POST', url, remoteAddress, headers: { host } }
      const { statusCode, headers, body } = await app.inject(request)
      const own = /^(?:x-debug.*|server-timing|x-robots-tag)$/
      return [statusCode, body, Object.keys(headers).filter(name => !own.test(name))]
    }
    t.strictSame(await ask('/_profiler/search_bar'), await ask('/nothing'), host)
  }
})

t.test("the application answers other requests under the profiler's base, without a recorder", async t => {
  const app = await profiledApp(t)
  app.setNotFoundHandler(async request => ({ recorder: request.recorder }))
  t.strictSame((await app.inject({ method: 'POST', url: '/_profiler/a/b' })).json(), { recorder: null })
})
