import type { IncomingMessage } from 'node:http'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { build } from '../support/build.ts'
import { openTestDatabase } from '../support/test-database.ts'

const database = await openTestDatabase(t)
const open = { license: 'optional' } as const
const answer = async () => 'ok'

function valueStorage() {
  const values = new Map()
  return {
    get: (value: unknown) => values.get(value) ?? null,
    set(value: unknown, handler: unknown) {
      values.set(value, handler)
    },
  }
}

/** A custom strategy. */
const region = {
  name: 'region',
  storage: valueStorage,
  validate() {},
  deriveConstraint: ({ headers }: IncomingMessage) => headers['x-region'],
}

const asked = new WeakSet<IncomingMessage>()

/** A strategy with asynchronous values. */
const tenant = {
  name: 'tenant',
  storage: valueStorage,
  validate() {},
  deriveConstraint(request: IncomingMessage, _context: unknown, done: (error: Error | null, value?: unknown) => void) {
    const { 'x-tenant': tenant } = request.headers
    const error = tenant === 'lost' && asked.has(request) ? new Error('The tenant is lost.') : null
    asked.add(request)
    setImmediate(() => done(error, tenant))
  },
}

const app = await build(t, {
  database,
  async routes(app: FastifyInstance) {
    app.addConstraintStrategy(region)
    for (const [method, host] of [
      ['GET', 'a.test'],
      ['POST', 'b.test'],
    ] as const) {
      app.route({ method, url: '/only', constraints: { host }, config: open, handler: answer })
    }
    app.put('/only', { constraints: { host: /^c\d\.test$/ }, config: open }, answer)
    app.get('/headed', { constraints: { host: 'a.test' }, config: open }, answer)
    app.head('/headed', { constraints: { host: 'b.test' }, config: open }, answer)
    app.get('/versioned', { constraints: { version: '1.2.0' }, config: open }, answer)
    app.post('/versioned', { constraints: { version: '2.0.0' }, config: open }, answer)
    app.delete('/versioned', { config: open }, answer)
    app.get('/regional', { constraints: { region: 'north' }, config: open }, answer)
    app.get('/null', { constraints: Object(null), config: open }, answer)
    app.register(async app => {
      app.addHook('onRoute', route => {
        route.constraints = { host: 'a.test' }
      })
      app.get('/hooked', { config: open }, answer)
    })
    app.register(
      async app => {
        app.get('/', { config: open }, answer)
      },
      { prefix: '/prefixed' },
    )
  },
})

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

async function ask(method: Method, url: string, headers: Record<string, string>, from = app) {
  const response = await from.inject({ method, url, headers: { host: 'a.test', ...headers } })
  const {
    statusCode,
    headers: { location, allow },
  } = response
  return { statusCode, ...(location !== undefined && { location }), ...(allow !== undefined && { allow }) }
}

t.test('GET is redirected to the other slash form if its host has it', async t => {
  t.strictSame(await ask('GET', '/only/', { host: 'a.test' }), { statusCode: 301, location: 'http://a.test/only' })
})

t.test('GET is not redirected to a slash form that only another host has', async t => {
  t.strictSame(await ask('GET', '/only/', { host: 'b.test' }), { statusCode: 404 })
})

t.test("a method that the host's routes lack is a 405, and Allow lists only theirs", async t => {
  t.strictSame(await ask('POST', '/only', { host: 'a.test' }), { statusCode: 405, allow: 'GET' })
  t.strictSame(await ask('GET', '/only', { host: 'b.test' }), { statusCode: 405, allow: 'POST' })
  t.strictSame(await ask('DELETE', '/only', { host: 'c5.test' }), { statusCode: 405, allow: 'PUT' })
})

t.test('a path that only other hosts have is a 404', async t => {
  t.strictSame(await ask('DELETE', '/only', { host: 'c.test' }), { statusCode: 404 })
})

t.test("Allow lists HEAD for the host that declares it, though Fastify adds one to another host's GET", async t => {
  t.strictSame(await ask('PUT', '/headed', { host: 'a.test' }), { statusCode: 405, allow: 'GET' })
  t.strictSame(await ask('PUT', '/headed', { host: 'b.test' }), { statusCode: 405, allow: 'HEAD' })
})

t.test('the methods of a path are those of the requested version', async t => {
  t.strictSame(await ask('PUT', '/versioned', { 'accept-version': '1.x' }), { statusCode: 405, allow: 'GET' })
  t.strictSame(await ask('PUT', '/versioned', { 'accept-version': '2.0.0' }), { statusCode: 405, allow: 'POST' })
  t.strictSame(await ask('PUT', '/versioned', { 'accept-version': '3.0.0' }), { statusCode: 404 })
  t.strictSame(await ask('PUT', '/versioned', {}), { statusCode: 405, allow: 'DELETE' })
})

t.test('GET is redirected to the other slash form of the requested version only', async t => {
  const sent = { statusCode: 301, location: 'http://a.test/versioned' }
  t.strictSame(await ask('GET', '/versioned/', { 'accept-version': '1.2.0' }), sent)
  t.strictSame(await ask('GET', '/versioned/', { 'accept-version': '2.0.0' }), { statusCode: 404 })
})

t.test('a custom constraint strategy is consulted', async t => {
  t.strictSame(await ask('POST', '/regional', { 'x-region': 'north' }), { statusCode: 405, allow: 'GET' })
  t.strictSame(await ask('POST', '/regional', { 'x-region': 'south' }), { statusCode: 404 })
  t.strictSame(await ask('GET', '/regional/', {}), { statusCode: 404 })
})

t.test('constraints added by an onRoute hook count', async t => {
  t.strictSame(await ask('POST', '/hooked', { host: 'a.test' }), { statusCode: 405, allow: 'GET' })
  t.strictSame(await ask('POST', '/hooked', { host: 'b.test' }), { statusCode: 404 })
})

t.test('a route at the root of a prefix has both slash forms', async t => {
  t.strictSame(await ask('POST', '/prefixed', {}), { statusCode: 405, allow: 'GET' })
  t.strictSame(await ask('POST', '/prefixed/', {}), { statusCode: 405, allow: 'GET' })
})

t.test('two wildcards of one method are allowed for different hosts, and each answers its own', async t => {
  const wild = await build(t, {
    database,
    async routes(app) {
      for (const host of ['a.test', 'b.test']) app.get('*', { constraints: { host }, config: open }, async () => host)
      app.post('*', { config: open }, answer)
    },
  })
  t.equal((await wild.inject({ url: '/x', headers: { host: 'b.test' } })).body, 'b.test')
  t.strictSame(await ask('PUT', '/x', { host: 'b.test' }, wild), { statusCode: 405, allow: 'GET, POST' })
  t.strictSame(await ask('PUT', '/x', { host: 'c.test' }, wild), { statusCode: 405, allow: 'POST' })
  t.strictSame(await ask('GET', '/x/', { host: 'c.test' }, wild), { statusCode: 405, allow: 'POST' })
})

t.test('an asynchronous strategy is awaited', async t => {
  const later = await build(t, {
    database,
    async routes(app) {
      // Fastify's types leave out strategies with callbacks.
      Reflect.apply(app.addConstraintStrategy, app, [tenant])
      app.get('/rented', { constraints: { tenant: 'one' }, config: open }, answer)
      app.post('/rented', { constraints: { tenant: 'two' }, config: open }, answer)
    },
  })
  t.strictSame(await ask('DELETE', '/rented', { 'x-tenant': 'two' }, later), { statusCode: 405, allow: 'POST' })
  const sent = { statusCode: 301, location: 'http://a.test/rented' }
  t.strictSame(await ask('GET', '/rented/', { 'x-tenant': 'one' }, later), sent)
  t.strictSame(await ask('GET', '/rented/', { 'x-tenant': 'two' }, later), { statusCode: 404 })
  t.strictSame(await ask('GET', '/rented/', { 'x-tenant': 'lost' }, later), { statusCode: 500 })
})
