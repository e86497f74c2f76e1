import type { IncomingMessage } from 'node:http'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { build, openTestDatabase } from '../support/site.ts'

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

const asked = new WeakSet<IncomingMessage>()

/** A custom strategy, whose values are asynchronous. Fastify's types leave out strategies with callbacks. */
const region = {
  name: 'region',
  storage: valueStorage,
  validate() {},
  deriveConstraint(request: IncomingMessage, _context: unknown, done: (error: Error | null, value?: unknown) => void) {
    const { 'x-region': region } = request.headers
    const error = region === 'lost' && asked.has(request) ? new Error('The region is lost.') : null
    asked.add(request)
    setImmediate(() => done(error, region))
  },
}

const app = await build(t, {
  database,
  async routes(app: FastifyInstance) {
    Reflect.apply(app.addConstraintStrategy, app, [region])
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

const found = (allow: string) => ({ statusCode: 405, allow })
const sent = (path: string) => ({ statusCode: 301, location: `http://a.test${path}` })
const missing = { statusCode: 404 }

/** Requests, and their answers. Allow lists the methods that the routes have under the constraints of the request. */
const asking: Record<string, [method: Method, url: string, headers: Record<string, string>, answer: object][]> = {
  'GET is redirected to the other slash form if its host has it': [['GET', '/only/', {}, sent('/only')]],
  'GET is not redirected to a slash form that only another host has': [['GET', '/only/', { host: 'b.test' }, missing]],
  "a method that the host's routes lack is a 405, and Allow lists only theirs": [
    ['POST', '/only', {}, found('GET')],
    ['GET', '/only', { host: 'b.test' }, found('POST')],
    ['DELETE', '/only', { host: 'c5.test' }, found('PUT')],
  ],
  'a path that only other hosts have is a 404': [['DELETE', '/only', { host: 'c.test' }, missing]],
  "Allow lists HEAD for the host that declares it, though Fastify adds one to another host's GET": [
    ['PUT', '/headed', {}, found('GET')],
    ['PUT', '/headed', { host: 'b.test' }, found('HEAD')],
  ],
  'the methods of a path are those of the requested version': [
    ['PUT', '/versioned', { 'accept-version': '1.x' }, found('GET')],
    ['PUT', '/versioned', { 'accept-version': '2.0.0' }, found('POST')],
    ['PUT', '/versioned', { 'accept-version': '3.0.0' }, missing],
    ['PUT', '/versioned', {}, found('DELETE')],
  ],
  'GET is redirected to the other slash form of the requested version only': [
    ['GET', '/versioned/', { 'accept-version': '1.2.0' }, sent('/versioned')],
    ['GET', '/versioned/', { 'accept-version': '2.0.0' }, missing],
  ],
  'a custom constraint strategy is consulted, and awaited if it is asynchronous': [
    ['POST', '/regional', { 'x-region': 'north' }, found('GET')],
    ['POST', '/regional', { 'x-region': 'south' }, missing],
    ['GET', '/regional/', {}, missing],
    ['GET', '/regional/', { 'x-region': 'north' }, sent('/regional')],
    ['GET', '/regional/', { 'x-region': 'lost' }, { statusCode: 500 }],
  ],
  'constraints added by an onRoute hook count': [
    ['POST', '/hooked', {}, found('GET')],
    ['POST', '/hooked', { host: 'b.test' }, missing],
  ],
  'a route at the root of a prefix has both slash forms': [
    ['POST', '/prefixed', {}, found('GET')],
    ['POST', '/prefixed/', {}, found('GET')],
  ],
}

for (const [title, requests] of Object.entries(asking)) {
  t.test(title, async t => {
    for (const [method, url, headers, answer] of requests) t.strictSame(await ask(method, url, headers), answer)
  })
}

t.test('two wildcards of one method are allowed for different hosts, and each answers its own', async t => {
  const wild = await build(t, {
    database,
    async routes(app) {
      for (const host of ['a.test', 'b.test']) app.get('*', { constraints: { host }, config: open }, async () => host)
      app.post('*', { config: open }, answer)
    },
  })
  t.equal((await wild.inject({ url: '/x', headers: { host: 'b.test' } })).body, 'b.test')
  t.strictSame(await ask('PUT', '/x', { host: 'b.test' }, wild), found('GET, POST'))
  t.strictSame(await ask('PUT', '/x', { host: 'c.test' }, wild), found('POST'))
  t.strictSame(await ask('GET', '/x/', { host: 'c.test' }, wild), found('POST'))
})
