import { networkInterfaces } from 'node:os'
import t from 'tap'
import { html } from '../../../../plugins/debug/profiler/index.ts'
import { deferred, everythingStored, listen, profiledApp, sendRaw } from './profiled-app.ts'

async function appWithProfiles (t: Parameters<typeof profiledApp>[0], options: Parameters<typeof profiledApp>[1] = {}) {
  const app = await profiledApp(t, options)
  app.get('/fine', async () => 'fine')
  app.get('/broken', async () => { throw new Error('it broke', { cause: new AggregateError([new RangeError('one'), 'two'], 'several') }) })
  const fine = String((await app.inject('/fine')).headers['x-debug-token'])
  const broken = String((await app.inject('/broken')).headers['x-debug-token'])
  return { app, fine, broken }
}

const accepts = { html: 'text/html', json: 'application/json', markdown: 'text/markdown' }

t.test('each page answers as HTML, JSON and Markdown', async t => {
  const { app, broken } = await appWithProfiles(t)
  for (const url of ['/_profiler', '/_profiler/', '/_profiler/search?status=500', '/_profiler/search_bar?panel=exception',
    '/_profiler/latest', `/_profiler/${broken}`, `/_profiler/${broken}?panel=logs`, `/_profiler/${broken}/exception`]) {
    for (const [form, accept] of Object.entries(accepts)) {
      const { statusCode, headers, body } = await app.inject({ url, headers: { accept } })
      t.equal(statusCode, 200, `${url} as ${form}`)
      t.match(headers['content-type'], accept)
      t.match(headers, { 'x-robots-tag': 'noindex', 'cache-control': 'no-store', vary: 'accept', 'x-content-type-options': 'nosniff' })
      t.match(headers['content-security-policy'], /^default-src 'none'/)
      t.notMatch(headers['content-security-policy'], 'unsafe-inline')
      if (form === 'json') t.doesNotThrow(() => { JSON.parse(body) })
    }
  }
  t.match((await app.inject('/_profiler/latest')).headers['content-type'], 'application/json', 'curl gets JSON')
})

t.test('a profile opens at its exception, if it has one', async t => {
  const { app, fine, broken } = await appWithProfiles(t)
  const open = async (url: string) => /aria-current="page"[^>]*>([^<]*)/.exec((await app.inject({ url, headers: { accept: 'text/html' } })).body)?.[1]?.trim()
  t.equal(await open(`/_profiler/${broken}`), 'Exception')
  t.not(await open(`/_profiler/${fine}`), 'Exception')
  t.equal(await open(`/_profiler/${fine}?panel=logs`), 'Logs')
  t.equal((await app.inject('/_profiler/latest')).json().token, broken)
})

t.test('the chain of causes and members is there, each with frames and the source around its line', async t => {
  const { app, broken } = await appWithProfiles(t)
  const { exceptions } = (await app.inject(`/_profiler/${broken}/exception`)).json()
  t.match(exceptions, [
    { class: 'Error', message: 'it broke', relation: 'thrown', parent: null },
    { class: 'AggregateError', message: 'several', relation: 'cause', parent: 0 },
    { class: 'RangeError', message: 'one', relation: 'member', parent: 1 },
    { class: 'string', message: 'two', relation: 'member', parent: 1, frames: [] }
  ])
  const profile = await app.profiler.find(broken)
  const [frame] = profile === null ? [] : app.profiler.viewContext(profile).profile.exceptions[0]?.frames ?? []
  t.equal(frame?.kind, 'own')
  t.match(frame?.excerpt?.lines[frame.line - frame.excerpt.first], /throw new Error\('it broke'/)
})

t.test('what is not there is a 404 that says so and offers the newest', async t => {
  const { app, fine } = await appWithProfiles(t)
  for (const [url, said] of [
    ['/_profiler/unknown', 'There is no profile "unknown"'],
    ['/_profiler/unknown/exception', 'There is no profile "unknown"'],
    ['/_profiler/unknown/exception.css', 'There is no profile "unknown"'],
    [`/_profiler/${fine}?panel=unknown`, 'There is no panel "unknown"'],
    [`/_profiler/${fine}/exception`, 'had no exception']
  ] as const) {
    for (const accept of Object.values(accepts)) {
      const { statusCode, body } = await app.inject({ url, headers: { accept } })
      t.equal(statusCode, 404, url)
      t.match(body.replaceAll('&quot;', '"').replaceAll('\\"', '"').replaceAll('\\', ''), said)
      t.match(body, fine)
    }
  }
  t.same((await app.inject(`/_profiler/${fine}?panel=unknown`)).json().panels, ['request', 'performance', 'exception', 'logs', 'lifecycle', 'routing', 'configuration'])
})

t.test('assets are cacheable, for good where their version is asked for', async t => {
  const { app, broken } = await appWithProfiles(t)
  const { body } = await app.inject({ url: `/_profiler/${broken}`, headers: { accept: 'text/html' } })
  const [, url = ''] = /"(\/_profiler\/assets\/[^"]+)"/.exec(body) ?? []
  t.match((await app.inject(url)).headers['cache-control'], 'immutable')
  t.match((await app.inject(url.replace(/\?.*/, ''))).headers['cache-control'], 'no-cache')
  t.equal((await app.inject('/_profiler/assets/none')).statusCode, 404)
  const css = await app.inject(`/_profiler/${broken}/exception.css`)
  t.match(css.headers, { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'private, max-age=3600' })
})

t.test('only trusted addresses are answered, and forwarded headers can only take trust away', async t => {
  const { app, fine } = await appWithProfiles(t, { allow: ['10.1.0.0/16', '192.0.2.7', '2001:db8::/32'] })
  const url = `/_profiler/${fine}`
  const unknown = await app.inject({ url: '/nothing', remoteAddress: '203.0.113.1' })
  for (const [remoteAddress, headers, status] of [
    ['127.0.0.1', {}, 200], ['127.9.9.9', {}, 200], ['::1', {}, 200], ['::ffff:127.0.0.1', {}, 200],
    ['10.1.2.3', {}, 200], ['192.0.2.7', {}, 200], ['2001:db8::5', {}, 200],
    ['10.2.0.1', {}, 404], ['203.0.113.1', {}, 404], ['::ffff:203.0.113.1', {}, 404], ['no address', {}, 404],
    ['127.0.0.1', { 'x-forwarded-for': '203.0.113.1' }, 404],
    ['127.0.0.1', { 'x-forwarded-for': '127.0.0.1, 203.0.113.1' }, 404],
    ['127.0.0.1', { 'x-forwarded-for': '10.1.0.1:443, 127.0.0.1' }, 200],
    ['203.0.113.1', { 'x-forwarded-for': '127.0.0.1' }, 404],
    ['127.0.0.1', { 'x-real-ip': '203.0.113.1' }, 404],
    ['127.0.0.1', { forwarded: 'proto=https;for="[2001:db8::5]:80";by=x' }, 200],
    ['127.0.0.1', { forwarded: 'proto=https' }, 404],
    ['127.0.0.1', { via: '1.1 proxy' }, 404],
    ['127.0.0.1', { 'x-forwarded-proto': 'https' }, 404],
    ['127.0.0.1', { via: '1.1 proxy', 'x-forwarded-for': '10.1.2.3' }, 200],
    ['127.0.0.1', { forwarded: 'for=unknown' }, 404],
    ['127.0.0.1', { forwarded: 'for=203.0.113.1' }, 404],
    ['127.0.0.1', { forwarded: 'for=127.0.0.1, For="203.0.113.1"' }, 404],
    ['127.0.0.1', { forwarded: 'nothing' }, 404],
    ['127.0.0.1', { 'true-client-ip': '203.0.113.1' }, 404],
    ['127.0.0.1', { 'cf-connecting-ip': '203.0.113.1', 'x-forwarded-for': '127.0.0.1' }, 404],
    ['127.0.0.1', { 'x-client-ip': '203.0.113.1' }, 404],
    ['127.0.0.1', { 'x-cluster-client-ip': '203.0.113.1' }, 404],
    ['127.0.0.1', { 'fly-client-ip': '203.0.113.1' }, 404],
    ['127.0.0.1', { via: '1.1 proxy', 'true-client-ip': '10.1.2.3' }, 200]
  ] as const) {
    const { statusCode, body } = await app.inject({ url, remoteAddress, headers: { ...headers } })
    t.equal(statusCode, status, `${remoteAddress} ${JSON.stringify(headers)}`)
    if (status === 404) t.same(Object.keys(JSON.parse(body)), Object.keys(unknown.json()), 'as any unknown path')
  }
})

t.test('under a host name that anybody could have pointed here nothing is shown', async t => {
  const { app, fine } = await appWithProfiles(t, { isTrustedHost: host => host === 'museum.test' })
  const url = `/_profiler/${fine}`
  for (const [host, status] of [
    ['localhost:3000', 200], ['LOCALHOST', 200], ['app.localhost', 200], ['127.0.0.1:80', 200], ['[::1]:80', 200], ['192.0.2.1', 200],
    ['museum.test:8080', 200], ['evil.test', 403], ['localhost.evil.test', 403], ['127.0.0.1.evil.test', 403]
  ] as const) {
    t.equal((await app.inject({ url, headers: { host } })).statusCode, status, host)
  }
  const { port } = await listen(app)
  t.match(await sendRaw(port, `GET ${url} HTTP/1.0\r\n\r\n`), /^HTTP\/1\.1 403 /, 'nor without any')
  t.equal((await app.inject({ url, headers: { host: 'evil.test', 'x-forwarded-host': 'localhost', 'x-forwarded-for': '127.0.0.1' } })).statusCode, 403)
  t.equal((await app.inject({ url, headers: { host: 'localhost', 'x-forwarded-host': 'evil.test', 'x-forwarded-for': '127.0.0.1' } })).statusCode, 403)
  for (const [forwarded, status] of [
    ['for=127.0.0.1;host=evil.test', 403], ['for=127.0.0.1;host=localhost, for=127.0.0.1; Host="evil.test:80"', 403], ['for=127.0.0.1;host="localhost:80"', 200]
  ] as const) {
    t.equal((await app.inject({ url, headers: { host: 'localhost', forwarded } })).statusCode, status, forwarded)
  }
})

t.test('a client from another machine is told nothing', { skip: Object.values(networkInterfaces()).flat().every(each => each?.internal !== false || each.family !== 'IPv4') }, async t => {
  const { app, fine } = await appWithProfiles(t)
  const address = Object.values(networkInterfaces()).flat().find(each => each?.internal === false && each.family === 'IPv4')?.address
  const origin = await app.listen({ port: 0, host: address ?? '' })
  t.equal((await fetch(`${origin}/_profiler/${fine}`)).status, 404)
})

t.test('the application\'s own hooks and error handlers do not stand between a person and the profiler', async t => {
  const { app, fine } = await appWithProfiles(t)
  t.equal((await app.inject(`/_profiler/${fine}`)).statusCode, 200)
  const strict = await profiledApp(t)
  strict.addHook('onRequest', async (_request, reply) => reply.code(401).send('nobody'))
  strict.addHook('onSend', (_request, _reply, _payload, done) => done(null, 'replaced'))
  t.equal((await strict.inject('/any')).statusCode, 401)
  const { statusCode, body } = await strict.inject('/_profiler/')
  t.equal(statusCode, 200)
  t.equal(JSON.parse(body).total, 1)
})

t.test('one file makes a panel: it is collected, listed, shown, searched and in the toolbar', async t => {
  const app = await profiledApp(t, {
    labels: ['license'],
    panels: [{
      name: 'license',
      label: 'License',
      collect: ({ request }) => request?.url === '/' ? { name: 'Louvre' } : null,
      labels: ({ name }) => ({ license: name }),
      badge: ({ name }) => ({ text: name, tone: 'good' }),
      body: ({ name }) => html`<p>Licensed to ${name}</p>`,
      markdown: ({ name }) => `Licensed to ${name}`
    }]
  })
  app.get('/', async () => 'ok')
  await app.inject('/')
  await app.inject('/other')
  const page = await app.inject({ url: '/_profiler/search?license=louvre', headers: { accept: 'text/html' } })
  t.match(page.body, 'value="louvre"')
  const { profiles } = (await app.inject('/_profiler/search?license=louvre&panel=license')).json()
  t.equal(profiles.length, 1)
  const url = `/_profiler/${profiles[0].token}?panel=license`
  t.match((await app.inject({ url, headers: { accept: 'text/html' } })).body, '<p>Licensed to Louvre</p>')
  t.match((await app.inject({ url, headers: { accept: 'text/markdown' } })).body, 'Licensed to Louvre')
  t.same((await app.inject(url)).json().data, { name: 'Louvre' })
  t.equal((await app.inject('/_profiler/search?license=')).json().total, 2)
  t.equal((await app.inject('/_profiler/search')).json().total, 2)
})

t.test('a search by time takes what the form sends, in UTC, and leaves out what makes no sense', async t => {
  const { app } = await appWithProfiles(t)
  await everythingStored(app)
  const total = async (query: string) => (await app.inject(`/_profiler/search?${query}`)).json().total
  const soon = new Date(Date.now() + 60_000).toISOString().slice(0, 19)
  t.equal(await total(`timeTo=${soon}`), 2)
  t.equal(await total(`timeFrom=${soon}`), 0)
  t.equal(await total(`timeFrom=${Date.now() + 60_000}`), 0)
  t.equal(await total('durationFrom=60000'), 0)
})

t.test('what a search asks for and makes no sense is left out, and said to be', async t => {
  const { app } = await appWithProfiles(t)
  await everythingStored(app)
  const url = '/_profiler/search?timeFrom=never&durationFrom=long&perPage=&page=x&status=<b>'
  const { total, problems } = (await app.inject(url)).json()
  t.equal(total, 2)
  t.strictSame(problems, [
    'No status is "<b>": ask for 404, 4xx, >=400 or none.',
    '"long" is no number for durationFrom.', '"x" is no number for page.', '"never" is no time for timeFrom.'
  ])
  t.match((await app.inject({ url, headers: { accept: 'text/html' } })).body, 'No status is &quot;&lt;b&gt;&quot;')
})

t.test('a failure is found by what was thrown', async t => {
  const { app, broken } = await appWithProfiles(t)
  await everythingStored(app)
  t.match((await app.inject('/_profiler/search?exception=IT+BROKE')).json(), { total: 1, profiles: [{ token: broken }] })
})

t.test('a profile opens where no panel is named', async t => {
  const { app, fine } = await appWithProfiles(t)
  t.equal((await app.inject(`/_profiler/${fine}?panel=`)).statusCode, 200)
})

t.test('the newest profile and a search open in the panel that is open', async t => {
  const { app, fine } = await appWithProfiles(t)
  const { body } = await app.inject({ url: `/_profiler/${fine}?panel=logs`, headers: { accept: 'text/html' } })
  t.match(body, 'href="/_profiler/latest?panel=logs"')
  t.match(body, '<input type="hidden" name="panel" value="logs">')
})

t.test('a wrong option fails at the start, with a sentence', async t => {
  await t.rejects(profiledApp(t, { base: 'profiler' }), /The profiler's "base" is a path/)
  await t.rejects(profiledApp(t, { allow: ['anyone'] }), /takes IP addresses and networks, not "anyone"/)
  const panel = { name: 'logs', label: 'Again', collect: () => null, body: () => html`` }
  await t.rejects(profiledApp(t, { panels: [panel] }), /two panels named "logs"/)
  await t.rejects(profiledApp(t, { panels: [{ ...panel, name: 'a b' }] }), /letters, digits, - and _, not "a b"/)
})

t.test('who knows the host names may have to look them up', async t => {
  const { app, fine } = await appWithProfiles(t, { isTrustedHost: async host => host === 'museum.test' })
  for (const [host, forwarded, status] of [['museum.test', 'museum.test', 200], ['museum.test', 'evil.test', 403], ['evil.test', 'museum.test', 403]] as const) {
    t.equal((await app.inject({ url: `/_profiler/${fine}`, headers: { host, 'x-forwarded-host': forwarded, 'x-forwarded-for': '127.0.0.1' } })).statusCode, status)
  }
  const page = await app.inject({ url: '/broken', headers: { host: 'museum.test', accept: 'text/html' } })
  t.equal(page.json().message, 'it broke', 'which is too late for a response under that name')
})

t.test('a rule of the application\'s that throws is told to the log: the page fails, the request does not', async t => {
  const lines: string[] = []
  const options = { isTrustedHost: () => { throw new Error('no rule') } }
  const app = await profiledApp(t, options, { logger: { level: 'warn', stream: { write (line: string) { lines.push(line) } } } })
  const headers = { host: 'museum.test', accept: 'text/html' }
  t.equal((await app.inject({ url: '/', headers })).statusCode, 404)
  t.equal((await app.inject({ url: '/_profiler/', headers })).statusCode, 500)
  t.match(lines.map(line => JSON.parse(line).msg), ['The profiler failed; the request did not', 'The profiler failed to show a page'])
})

t.test('an unknown path below the profiler\'s is a page of its own that is not there, outside of any profile', async t => {
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
  const outside = { url: '/_profiler/a/b', remoteAddress: '203.0.113.1' }
  t.equal((await app.inject(outside)).json().message, 'Route GET:/_profiler/a/b not found', 'which nobody else is told')
})

t.test('a slash too many leads to the page without it', async t => {
  const { app, fine } = await appWithProfiles(t)
  for (const [url, location] of [
    [`/_profiler/${fine}/`, `/_profiler/${fine}`], [`/_profiler/${fine}/?panel=logs`, `/_profiler/${fine}?panel=logs`],
    [`/_profiler/${fine}/exception/`, `/_profiler/${fine}/exception`], ['/_profiler/search//', '/_profiler/search'],
    ['/_profiler//', '/_profiler'], ['/_profiler//evil.test/%2f/', '/_profiler/evil.test']
  ] as const) {
    const { statusCode, headers } = await app.inject(url)
    t.equal(statusCode, 308, url)
    t.equal(headers.location, location)
  }
})

for (const [what, routerOptions] of Object.entries({
  'the slash at the end': { ignoreTrailingSlash: true },
  'double slashes': { ignoreDuplicateSlashes: true },
  case: { caseSensitive: false },
  'all of them': { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, caseSensitive: false }
})) {
  t.test(`every page is there where the router overlooks ${what}`, async t => {
    const app = await profiledApp(t, {}, { routerOptions })
    app.get('/broken', async () => { throw new Error('it broke') })
    const token = String((await app.inject('/broken')).headers['x-debug-token'])
    const page = async (url: string) => {
      const { statusCode, body } = await app.inject(url)
      t.equal(statusCode, 200, url)
      return body
    }
    for (const url of ['/_profiler', '/_profiler/', '/_profiler/search']) t.match(JSON.parse(await page(url)), { total: 1 }, url)
    t.match(JSON.parse(await page(`/_profiler/${token}`)), { token })
    t.match(JSON.parse(await page(`/_profiler/${token}/exception`)), { token })
    t.match(await page(`/_profiler/${token}/exception.css`), '.exception')
    t.match(await page('/_profiler/assets/toolbar.js'), 'profiler-toolbar')
    t.match((await app.inject('/_profiler/a/b')).json().error, 'no page "a/b"')
    t.equal((await app.inject('/_profiler/unknown')).statusCode, 404)
    const { ignoreTrailingSlash, ignoreDuplicateSlashes, caseSensitive } = { ignoreTrailingSlash: false, ignoreDuplicateSlashes: false, caseSensitive: true, ...routerOptions }
    t.equal((await app.inject(`/_profiler/${token}/`)).statusCode, ignoreTrailingSlash ? 200 : 308)
    if (ignoreDuplicateSlashes) t.match(JSON.parse(await page(`//_profiler//${token}`)), { token })
    if (!caseSensitive) t.match(JSON.parse(await page(`/_PROFILER/${token}`)), { token })
    t.equal((await app.inject('/_profiler/search')).json().total, 1, 'and none of them has a profile')
  })
}

t.test('a request whose answer is not out yet is said to run', async t => {
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

t.test('a host is found with its port, and a request by its whole URL', async t => {
  const app = await profiledApp(t)
  for (const host of ['localhost:4700', '[::1]:4700']) await app.inject({ url: '/version?a=b', headers: { host } })
  const total = async (name: string, value: string) => (await app.inject(`/_profiler/search?${new URLSearchParams({ [name]: value })}`)).json().total
  for (const [name, value, found] of [
    ['host', 'localhost:4700', 1], ['host', 'localhost', 1], ['host', 'LOCALHOST:', 1], ['host', '[::1]:4700', 1], ['host', '::1', 1], ['host', 'museum.test:4700', 0],
    ['url', 'http://localhost:4700/version?a=b#top', 1], ['url', 'HTTP://localhost', 1], ['url', 'http://[::1]:4700/version', 1], ['url', 'http://museum.test/version', 0], ['url', 'http://localhost/other', 0], ['url', '/version', 2]
  ] as const) t.equal(await total(name, value), found, `${name} ${value}`)
})

t.test('the search form alone has a heading, and is the main part', async t => {
  const app = await profiledApp(t)
  const { body } = await app.inject({ url: '/_profiler/search_bar', headers: { accept: 'text/html' } })
  t.match(body, /<main><h1>Search profiles<\/h1>\s*<form/)
})

t.test('what else is asked of the profiler\'s paths the application answers, and has no recorder for it', async t => {
  const app = await profiledApp(t)
  app.setNotFoundHandler(async request => ({ recorder: request.recorder }))
  t.strictSame((await app.inject({ method: 'POST', url: '/_profiler/latest' })).json(), { recorder: null })
})
