import t from 'tap'
import { onlyProfile, pageOf, panelOf, profiledApp, profileOf } from './profiled-app.ts'

t.test('a route is identified by its constraints too, and HEAD belongs to the GET it was added for', async t => {
  const app = await profiledApp(t)
  app.get('/thing', { constraints: { host: 'a.example' } }, async function ofFirst() {
    return 'one'
  })
  app.get(
    '/thing',
    { constraints: { host: 'b.example' }, config: { own: 1 } },
    async function ofSecond({ routeOptions }) {
      return Object.entries(routeOptions.config)
    },
  )
  app.get('/thing', { constraints: { host: 'b.example', version: '2.0.0' } }, async function ofNew() {
    return 'new'
  })
  for (const [url, method, version, expected] of [
    ['/thing?get', 'GET', null, { handler: 'ofSecond', host: 'b.example' }],
    ['/thing?head', 'HEAD', null, { handler: 'ofSecond', host: 'b.example', method: ['GET'] }],
    ['/thing?version', 'GET', '2.x', { handler: 'ofNew', host: 'b.example', version: '2.0.0' }],
  ] as const) {
    const answer = await app.inject({
      method,
      url,
      headers: { host: 'b.example', ...(version !== null && { 'accept-version': version }) },
    })
    t.equal(answer.statusCode, 200)
    if (url === '/thing?get') {
      t.same(answer.json(), [
        ['own', 1],
        ['url', '/thing'],
        ['method', 'GET'],
      ])
    }
    const profile = await onlyProfile(t, app, url)
    t.match(profile.routing.matched, expected, url)
    const page = await pageOf(app, `${profile.token}?panel=routing`, 'text/markdown')
    t.match(page, `| Route | \`GET /thing\` |\n| Host | \`b.example\` |`)
    t.match(page, 'The application has 3 routes.')
    t.equal(page.includes('2.0.0'), version !== null)
  }
})

t.test('a route that calls callNotFound is the one that matched, and a page of the application stays', async t => {
  const app = await profiledApp(t)
  app.get('/things/:id', async (_request, reply) => reply.callNotFound())
  const shop = async (within: typeof app) => {
    within.setNotFoundHandler(async (_request, reply) => reply.code(404).type('text/html').send('<h1>Sold</h1>'))
    within.get('/:id', async (_request, reply) => reply.callNotFound())
  }
  await app.register(shop, { prefix: '/shop' })
  const headers = { accept: 'text/html' }
  const plain = await app.inject({ url: '/things/7', headers })
  t.match(plain, { statusCode: 404, body: 'The route /things/:id answered GET /things/7 with 404' })
  t.notMatch(plain.body, 'No route matches')
  t.match((await onlyProfile(t, app, '/things/7')).routing.matched, { url: '/things/:id', params: { id: '7' } })
  t.equal((await app.inject({ url: '/shop/7', headers })).body, '<h1>Sold</h1>')
})

t.test('a path that only a route for all paths takes, and gives up, is a path without a route', async t => {
  const app = await profiledApp(t)
  app.get('/museums/:id', async () => 'one')
  app.get('/*', async (_request, reply) => reply.callNotFound())
  const { body } = await app.inject({ url: '/museum/7', headers: { accept: 'text/html' } })
  t.match(body, 'No route matches GET /museum/7')
  t.match((await onlyProfile(t, app, '/museum/7')).routing, { matched: null, nearMisses: [{ url: '/museums/:id' }] })
})

t.test('a route for all paths that gave up is named, with its plugin and its place', async t => {
  const app = await profiledApp(t)
  app.get('/museums/:id', async () => 'one')
  await app.register(async function files(within) {
    within.get('/*', async (_request, reply) => reply.callNotFound())
  })
  const gaveUp =
    /`\/\*` takes any path, but called reply\.callNotFound\(\)\. plugin files `[^`]*routing\.test\.[jt]s:\d+/
  for (const [url, said] of [
    ['/museum/7', '| GET | `/museums/:id` | Add “s” |'],
    ['/nothing/like/it/here', 'No other route matches `GET /nothing/like/it/here`, and none is similar.'],
  ] as const) {
    const page = await panelOf(app, url, 'routing')
    t.match(page, gaveUp)
    t.match(page, said)
  }
  t.notMatch(await panelOf(app, { url: '/museum/7', method: 'PUT' }, 'routing'), 'callNotFound')
})

t.test('a path whose only route is one for all paths and another method says so, after the similar routes', async t => {
  const app = await profiledApp(t)
  app.get('/works/:id', async () => 'one')
  app.route({ method: ['GET', 'HEAD'], url: '/*', handler: async () => 'file' })
  const any = '| GET HEAD | `/*` | Takes any path, but only for GET, HEAD |'
  t.match(await panelOf(app, { url: '/index.html', method: 'POST' }, 'routing'), any)
  const page = await panelOf(app, { url: '/work/7', method: 'POST' }, 'routing')
  t.ok(page.indexOf('Add “s”, but only for GET') < page.indexOf(any) && page.includes('Add “s”'), page)
})

t.test('the nearest routes are listed with the reason why each did not match', async t => {
  const tenant = {
    name: 'tenant',
    storage() {
      const handlers = new Map<unknown, never>()
      return {
        get: (key: unknown) => handlers.get(key) ?? null,
        set(key: unknown, handler: unknown) {
          Reflect.apply(handlers.set, handlers, [key, handler])
        },
      }
    },
    validate() {},
    deriveConstraint: ({ headers }: { headers: Record<string, unknown> }) => headers['x-tenant'],
  }
  const app = await profiledApp(t, {}, { constraints: { tenant } })
  app.get('/host', { constraints: { host: 'a.example' } }, async () => 'a')
  app.get('/host', { constraints: { host: /^b\.example$/ } }, async () => 'b')
  app.get('/versioned', { constraints: { version: '1.2.0' } }, async () => 'versioned')
  app.get('/tenant', { constraints: { tenant: 'louvre' } }, async () => 'tenant')
  app.get('/multi/:a(^\\d+)', async () => 'multi')
  app.get('/late', async () => 'late')
  app.post('/late/:id', async () => 'posted')
  app.get('/late/Night', async () => 'night')
  app.get('/items/', async () => 'list')
  app.get('/version', async () => '1')
  app.get('/a/:b/c', async () => 'deep')
  app.all('*', { constraints: { host: 'elsewhere' } }, async () => 'all')
  for (const [url, expected, said] of [
    ['/host', ['host /host a.example', 'host /host /^b\\.example$/'], 'Same path, but only on host a.example'],
    ['/versioned?none', ['version /versioned'], 'Same path, but only in version 1.2.0'],
    ['/versioned?asked', ['version /versioned'], 'Same path, but only in version 1.2.0'],
    ['/tenant', ['constraint /tenant'], 'Same path under another constraint'],
    ['/multi/abc', ['parameter /multi/:a(^\\d+)'], 'A parameter does not match its pattern'],
    ['/LATE', ['case /late'], 'Same path in another case'],
    ['/late//Night', ['similar /late/Night', 'similar /late/:id'], 'Drop “/”'],
    ['/late/night', ['method /late/:id', 'case /late/Night'], 'Same path, but only for POST'],
    ['/items', ['slash /items/'], 'Add a slash at the end'],
    ['/itemz/', ['similar /items/'], '“s” for “z”'],
    ['/versoin', ['similar /version'], '“io” for “oi”'],
    ['/a/1', ['similar /a/:b/c'], 'Add “/c”'],
    ['/zzzzzz/zzzzzzzzzz/zzz', [], 'none is similar. The application has 12 routes.'],
  ] as const) {
    const answer = await app.inject({
      url,
      headers: { host: 'c.example', ...(url.endsWith('asked') && { 'accept-version': '3.x' }) },
    })
    t.equal(answer.statusCode, 404)
    const {
      routing: { matched, nearMisses },
      token,
    } = await onlyProfile(t, app, url)
    t.equal(matched, null)
    const found = nearMisses.map(miss => `${miss.reason} ${miss.url}${miss.host === null ? '' : ` ${miss.host}`}`)
    t.same(found.slice(0, expected.length), expected, url)
    const page = await pageOf(app, `${token}?panel=routing`, 'text/markdown')
    t.match(page, said, url)
    t.equal(page.includes('version 1.2.0'), url.startsWith('/versioned'))
  }
})

t.test(
  'of both forms of a route at the prefix of its plugin the nearer is suggested, and a route of another method says so',
  async t => {
    const app = await profiledApp(t)
    app.register(
      async plugin => {
        plugin.get('/', async () => 'services')
      },
      { prefix: '/v1/services' },
    )
    app.post('/auth/login', async () => 'in')
    app.post('/users', async () => 'created')
    app.get('/users', async () => 'users')
    t.equal((await app.inject('/v1/services/')).statusCode, 200)
    for (const [method, url, expected] of [
      ['GET', '/v1/servics/', ['| GET | `/v1/services/` | Add “e” |']],
      ['GET', '/v1/servics', ['| GET | `/v1/services` | Add “e” |']],
      ['POST', '/v1/services', ['| GET | `/v1/services` | Same path, but only for GET |']],
      ['GET', '/auth/logn', ['| POST | `/auth/login` | Add “i”, but only for POST |']],
      ['GET', '/user', ['| GET | `/users` | Add “s” |', '| POST | `/users` | Add “s”, but only for POST |']],
    ] as const) {
      const { status, token } = await profileOf(app, { method, url })
      t.equal(status, 404)
      const page = await pageOf(app, `${token}?panel=routing`, 'text/markdown')
      const places = expected.map(row => page.indexOf(row))
      t.ok(places[0] !== -1 && places.every((place, index) => place >= (places[index - 1] ?? 0)), `${url} ${page}`)
      const suggested = page.match(/`\/v1\/services\/?` \|/g) ?? []
      t.equal(suggested.length, url.includes('servic') ? 1 : 0, page)
      t.notMatch(page, 'HEAD')
      t.match(page, 'The application has 5 routes.')
    }
  },
)

t.test('the router options of an application also apply to the search for near routes', async t => {
  for (const { options, path, asked, reason = 'method' } of [
    { options: { allowUnsafeRegex: true }, path: '/:number(^(\\d+)+$)', asked: '/1' },
    { options: { caseSensitive: false }, path: '/Thing', asked: '/tHING' },
    { options: { ignoreTrailingSlash: true }, path: '/thing/', asked: '/thing' },
    { options: { ignoreDuplicateSlashes: true }, path: '/a/thing', asked: '/a//thing' },
    { options: { maxParamLength: 300 }, path: '/:name', asked: `/${'x'.repeat(200)}` },
    { options: { useSemicolonDelimiter: true }, path: '/thing', asked: '/thing;a=b' },
    { options: {}, path: '/thing/', asked: '/thing', reason: 'slash' },
  ]) {
    for (const given of [options, { routerOptions: options }]) {
      const app = await profiledApp(t, {}, given)
      app.post(path, async () => 'posted')
      t.equal((await app.inject({ method: 'POST', url: reason === 'method' ? asked : path })).statusCode, 200)
      t.equal((await app.inject(asked)).statusCode, 404)
      await app.profiler.settled()
      const { profiles } = await app.profiler.search({ method: 'GET' })
      const profile = await app.profiler.find(profiles[0]?.token ?? '')
      t.match(
        profile?.routing.nearMisses,
        [{ reason, url: path }],
        Object.keys(given).concat(Object.keys(options)).join(),
      )
    }
  }
})

t.test('patterns that the router allows under several constraints are allowed with the profiler too', async t => {
  const app = await profiledApp(t)
  for (const host of ['a.example', 'b.example']) app.get('/thing/:id?', { constraints: { host } }, async () => host)
  app.get('/thing', { constraints: { host: 'c.example' } }, async () => 'c.example')
  for (const host of ['a.example', 'b.example', 'c.example']) {
    t.equal((await app.inject({ url: '/thing', headers: { host } })).body, host)
  }
})
