import { once } from 'node:events'
import {
  createServer,
  request as httpRequest,
  ServerResponse,
  type IncomingMessage,
  type RequestListener,
} from 'node:http'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { ReadableStream } from 'node:stream/web'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyServerOptions,
  type RouteOptions,
} from 'fastify'
import t, { type Test } from 'tap'
import profiler, { currentRecorder, type ProfilerOptions } from '../index.ts'
import { fakeClock, fakeTimers } from './fake-clock.ts'
import { makeFolder } from './folder.ts'
import {
  deferred,
  everythingStored,
  getRaw,
  keptLines,
  listen,
  onlyProfile,
  pageOf,
  plainApp,
  profiledApp,
  profileOf,
  sendRaw,
} from './profiled-app.ts'

interface Application {
  options?: FastifyServerOptions
  build: (app: FastifyInstance) => void
  /** Whether its requests can be profiled. Default: true. */
  isProfiled?: boolean
}

const refuse = () => {
  throw new Error('refused')
}

const isOurs = (key: string | symbol) => key.toString() === 'Symbol(profiler)'

/** The same request, except that the profiler cannot add properties. */
function closed(raw: IncomingMessage): IncomingMessage {
  return new Proxy(raw, {
    getOwnPropertyDescriptor: (target, key) =>
      isOurs(key) ? undefined : Reflect.getOwnPropertyDescriptor(target, key),
    defineProperty: (target, key, descriptor) =>
      isOurs(key) ? refuse() : Reflect.defineProperty(target, key, descriptor),
    deleteProperty: (target, key) => (isOurs(key) ? refuse() : Reflect.deleteProperty(target, key)),
  })
}

/** The same response, except that its methods cannot be replaced. */
function fixed(response: ServerResponse): ServerResponse {
  const { writeHead, write, end } = response
  return Object.defineProperties(response, {
    writeHead: { value: writeHead },
    write: { value: write },
    end: { value: end },
  })
}

/** Fastify without the profiler, until a test registers it. */
function bareApp(t: Test, options: FastifyServerOptions = {}): FastifyInstance {
  const app: FastifyInstance = Fastify(options)
  t.teardown(() => app.close())
  return app
}

const answer = (app: FastifyInstance) => app.get('/', async () => 'answer')

const applications: Record<string, Application> = {
  'removes the socket': {
    build(app) {
      app.addHook('onRequest', async ({ raw }) => {
        Object.defineProperty(raw, 'socket', { value: undefined })
      })
      answer(app)
    },
  },
  'allows no new properties on its requests': {
    options: { serverFactory: handler => createServer((raw, response) => handler(closed(raw), response)) },
    build: answer,
  },
  'makes the methods of its responses read-only': {
    build(app) {
      app.server.prependListener('request', (_raw, response) => fixed(response))
      answer(app)
    },
    isProfiled: false,
  },
  'rejects foreign headers': {
    build(app) {
      app.get('/', async (_request, { raw }) => {
        const setHeader = raw.setHeader.bind(raw)
        raw.setHeader = (name, value) => (name.startsWith('x-') ? refuse() : setHeader(name, value))
        return 'answer'
      })
    },
  },
  'answers with a frozen web stream': {
    build(app) {
      app.get('/', async () => Object.freeze(ReadableStream.from([Buffer.from('answer')])))
    },
  },
  'answers with a value that cannot be tested for being a promise': {
    build(app) {
      app.get('/', () => new Proxy({ an: 'answer' }, { has: refuse }))
    },
  },
  'freezes its loggers': {
    options: { logger: { stream: { write() {} } } },
    build(app) {
      app.setChildLoggerFactory((logger, bindings, options) => Object.freeze(logger.child(bindings, options)))
      answer(app)
    },
  },
  'has no routes': { build() {} },
  'lets nobody in': {
    build(app) {
      app.server.prependListener('request', (_raw, response) => fixed(response))
      app.addHook('onRequest', async (_request, reply) => reply.code(401).send('who are you?'))
      answer(app)
    },
    isProfiled: false,
  },
}

/** Starts an application with or without the profiler. @returns it and its origin */
async function started(
  t: Test,
  { options, build }: Application,
  own?: ProfilerOptions,
): Promise<{ app: FastifyInstance; origin: string }> {
  const app = Fastify(options)
  t.teardown(() => app.close())
  if (own !== undefined) await app.register(profiler, own)
  build(app)
  const { origin } = await listen(app)
  return { app, origin }
}

for (const [name, application] of Object.entries(applications)) {
  t.test(`an application that ${name} answers as it does without the profiler`, async t => {
    const bare = await started(t, application)
    const profiled = await started(t, application, { directory: makeFolder() })
    for (const path of ['/', '/nothing', '/a%zz']) {
      const [expected, found] = await Promise.all(
        [bare, profiled].map(async ({ origin }) => {
          const answer = await fetch(origin + path)
          return { status: answer.status, body: await answer.text() }
        }),
      )
      t.same(found, expected, path)
    }
    await everythingStored(profiled.app)
    const { profiles } = await profiled.app.profiler.search({})
    t.equal(profiles.length, application.isProfiled === false ? 0 : 3)
  })
}

t.test('a failure of the profiler is logged once and noted in each profile', async t => {
  const { logger, messages } = keptLines('warn')
  const app = await plainApp(t, { logger })
  app.get('/:number', () => new Proxy({}, { has: refuse }))
  for (const number of [1, 2, 3]) await app.inject(`/${number}`)
  t.same(messages, ['The profiler failed; the request did not'])
  const { notes } = await onlyProfile(t, app, '/2')
  t.match(notes.at(-1), 'The profiler could not record all of this request (Error)')
})

t.test('at most twenty different failures of the profiler are logged', async t => {
  const { lines, logger } = keptLines('warn')
  const app = await plainApp(t, { logger })
  const failing = (name: string) => ({
    has() {
      throw `failure ${name}`
    },
  })
  app.get<{ Params: { number: string } }>('/:number', ({ params }) => new Proxy({}, failing(params.number)))
  for (let number = 0; number < 30; number++) await app.inject(`/${number}`)
  t.equal(lines.length, 20)
})

t.test('a query that a handler returns is sent once, in its request', async t => {
  const app = await profiledApp(t)
  let sent = 0
  app.get('/', () => ({
    then(fulfilled: (rows: object) => void) {
      sent += currentRecorder() === undefined ? 0 : 1
      fulfilled({ rows: 1 })
    },
  }))
  const { spans } = await profileOf(app, '/')
  t.equal(sent, 1)
  t.match(spans, [{ kind: 'handler', outcome: 'replied' }])
  t.same((await app.inject('/')).json(), { rows: 1 })
})

/** Sends a request without a connection or a server, as some adapters do. */
async function route(app: FastifyInstance, raw: object): Promise<string> {
  const response = new ServerResponse(Object(raw))
  const connection = new PassThrough()
  response.assignSocket(Object(connection))
  app.routing(Object(raw), response)
  response.once('finish', () => connection.end())
  return await text(connection)
}

t.test('a request from an adapter without a connection is answered and profiled', async t => {
  const app = await profiledApp(t)
  app.get('/', async () => 'answer')
  await app.ready()
  const found = await route(app, { method: 'GET', url: '/', httpVersion: '1.1', headers: { host: 'a.example' } })
  t.match(found, /^HTTP\/1\.1 200 [^]*answer$/)
  t.match(await onlyProfile(t, app, '/'), {
    status: 200,
    outcome: 'completed',
    protocol: 'http',
    host: 'a.example',
    request: { headers: [['host', 'a.example']] },
    notes: [],
  })
})

/** Upgrades requests as @fastify/websocket does: after Fastify's hooks and handlers. */
function upgrades(app: FastifyInstance): void {
  app.server.on('upgrade', (raw, socket) => {
    const response = new ServerResponse(raw)
    response.assignSocket(Object(socket))
    app.routing(raw, response)
  })
  app.get('/:status', ({ raw, params }, reply) => {
    reply.hijack()
    const { status } = Object(params)
    if (status === '101') {
      raw.socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\nconnection: upgrade\r\n\r\n')
    } else if (status !== 'nothing') raw.socket.end(`HTTP/1.1 ${status} Refused\r\n\r\n`)
    raw.socket.pipe(raw.socket)
  })
}

/** What is said of requests that hang, and of time that nobody is known to have used. */
const accusation = /had not ended|unfinished|unaccounted, \d/

const upgradeRequest = (path: string) =>
  `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n`

t.test('an upgraded request has the status 101 and lasts as long as its connection', async t => {
  const { block } = fakeClock(t)
  const app = await profiledApp(t)
  upgrades(app)
  const { port } = await listen(app)
  const socket = connect(port, '127.0.0.1')
  socket.write(upgradeRequest('/101'))
  let answer = ''
  for await (const data of socket) {
    answer += String(data)
    if (answer.endsWith('\r\n\r\n')) socket.write('hello')
    if (answer.endsWith('hello')) break
  }
  t.equal(app.profiler.pending, 1)
  block(30_000)
  socket.destroy()
  await everythingStored(app)
  const profile = await onlyProfile(t, app, '/101')
  t.match(profile, { status: 101, outcome: 'upgraded', duration: 30_000 })
  t.match(profile.spans, [{ kind: 'handler', outcome: 'replied' }])
  t.match(await pageOf(app, `${profile.token}?panel=request`), 'Upgraded to another protocol')
  t.notMatch(await pageOf(app, `${profile.token}?panel=performance`, 'text/markdown'), accusation)
  t.notMatch(await pageOf(app, ''), accusation)
})

t.test('an async handler that upgrades may await the end of its connection', async t => {
  const { block } = fakeClock(t)
  const app = await profiledApp(t)
  upgrades(app)
  app.get('/awaits', async ({ raw }, reply) => {
    reply.hijack()
    raw.socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\nconnection: upgrade\r\n\r\n')
    await once(raw.socket.resume(), 'end')
    raw.socket.destroy()
  })
  const { port } = await listen(app)
  const socket = connect(port, '127.0.0.1')
  socket.write(upgradeRequest('/awaits'))
  await once(socket, 'data')
  block(30_000)
  socket.destroy()
  await everythingStored(app)
  const profile = await onlyProfile(t, app, '/awaits')
  t.match(profile, { outcome: 'upgraded', duration: 30_000, spans: [{ kind: 'handler', outcome: 'replied' }] })
  t.notMatch(await pageOf(app, 'latest?panel=performance', 'text/markdown'), accusation)
})

t.test('a handler whose error the WebSocket plugin logs after the upgrade has ended', async t => {
  const app = await profiledApp(t)
  upgrades(app)
  app.get('/fails', ({ log, raw }, reply) => {
    reply.hijack()
    raw.socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\nconnection: upgrade\r\n\r\n')
    log.error(new Error('the socket handler fails'))
    raw.socket.destroy()
  })
  const { port } = await listen(app)
  await sendRaw(port, upgradeRequest('/fails'))
  await everythingStored(app)
  const { exceptions, spans } = await onlyProfile(t, app, '/fails')
  t.match(exceptions, [{ message: 'the socket handler fails' }])
  t.match(spans, [{ kind: 'handler', outcome: 'replied' }])
})

t.test('an upgrade refused on the raw socket has that status and is not aborted', async t => {
  const app = await profiledApp(t)
  upgrades(app)
  const { port } = await listen(app)
  t.match(await sendRaw(port, upgradeRequest('/426')), 'HTTP/1.1 426')
  await everythingStored(app)
  t.match(await onlyProfile(t, app, '/426'), { status: 426, outcome: 'hijacked' })
})

t.test('a client that leaves before the upgrade makes an aborted request', async t => {
  const app = await profiledApp(t)
  upgrades(app)
  const entered = deferred()
  app.addHook('onResponse', async () => {})
  app.addHook('onRequest', async () => {
    entered.resolve()
  })
  const { port } = await listen(app)
  const socket = connect(port, '127.0.0.1')
  socket.write(upgradeRequest('/nothing'))
  await entered.promise
  socket.destroy()
  await everythingStored(app)
  t.match(await onlyProfile(t, app, '/nothing'), { status: null, outcome: 'aborted' })
})

t.test('an application can close while its tests fake the clock', async t => {
  const app = await profiledApp(t)
  app.get('/', async () => 'answer')
  await app.ready()
  const { setImmediate } = globalThis
  Object.assign(globalThis, { setImmediate: () => 0 })
  try {
    await app.inject('/')
    await app.close()
  } finally {
    Object.assign(globalThis, { setImmediate })
  }
  t.equal(app.profiler.pending, 0)
})

t.test('closing waits at most a second for open spans, whatever the patience of the profiler', async t => {
  const directory = makeFolder()
  const app = await profiledApp(t, { directory, patience: 600_000 })
  app.get('/', async ({ recorder }) => {
    recorder?.span({ kind: 'query', name: 'for ever' })
    return 'answer'
  })
  await app.inject('/')
  await app.close()
  t.equal(app.profiler.pending, 0)
  const next = await profiledApp(t, { directory })
  t.match(await onlyProfile(t, next, '/'), {
    status: 200,
    spans: [{ kind: 'handler' }, { name: 'for ever', outcome: 'unfinished' }],
  })
})

const late = /The profiler was registered after hooks or routes of the application/

t.test('a profiler registered without await notes that it is late, and traces what was added meanwhile', async t => {
  const app = bareApp(t)
  app.register(profiler, { directory: makeFolder() })
  app.addHook('onRequest', async function first() {})
  app.get('/', async function early() {
    return 'early'
  })
  t.match(await profileOf(app, '/'), { spans: [{ name: 'first' }, { name: 'early' }], notes: [String, late] })
})

t.test('a profiler registered after plugins, hooks and routes says so, and traces those that exist', async t => {
  const app = bareApp(t)
  app.addHook('onRequest', async function first({ url }, reply) {
    if (url === '/refused') return reply.code(401).send('no')
    return undefined
  })
  app.get('/early/:id', async function early() {
    return 'early'
  })
  await app.register(async function plugin(child) {
    child.addHook('preHandler', async function within() {})
    child.get('/within', async function inside() {
      return 'inside'
    })
  })
  await app.register(profiler, { directory: makeFolder() })
  app.get('/refused', async () => 'never')
  app.get('/later', async function later() {
    return 'later'
  })
  for (const [url, status, names] of [
    ['/early/1', 200, ['first', 'early']],
    ['/within', 200, ['first', 'within', 'inside']],
    ['/early/1?again', 200, ['first', 'early']],
    ['/later', 200, ['first', 'later']],
    ['/refused', 401, ['first']],
  ] as const) {
    const { routing, ...profile } = await profileOf(app, url)
    t.match(profile, { status, notes: [String, late], spans: names.map(name => ({ name })) }, url)
    t.equal(profile.spans.length, names.length)
    t.equal(routing.matched?.handler, status === 200 ? names.at(-1) : 'GET /refused')
    t.equal(routing.matched?.location === null, !/later|refused/.test(url))
  }
})

t.test("an invalid child logger factory gets Fastify's own error", async t => {
  const app = await profiledApp(t)
  app.setChildLoggerFactory(Object(() => {}))
  app.get('/', async () => 'answer')
  await app.ready()
  t.throws(
    () => {
      app.inject('/', () => {})
    },
    { code: 'FST_ERR_LOG_INVALID_LOGGER' },
  )
})

t.test('a child logger factory keeps its name', async t => {
  const app = await profiledApp(t)
  app.setChildLoggerFactory(function ofTheApplication(logger: FastifyBaseLogger, bindings, options) {
    return logger.child(bindings, options)
  })
  t.equal(app.childLoggerFactory.name, 'ofTheApplication')
})

t.test("onRoute hooks see the application's own options for each route, and none of the profiler's routes", async t => {
  const app = bareApp(t)
  // As a preloaded module does that is told of each new instance.
  await profiler(app, { directory: makeFolder() })
  const seen: RouteOptions[] = []
  app.addHook('onRoute', function onRoute(route) {
    seen.push({ ...route })
  })
  app.addHook('onRoute', route => {
    route.preHandler = async function added() {}
  })
  const handler = async function given() {
    return 'answer'
  }
  const onRequest = async function ofRoute() {}
  const errorHandler = () => {}
  const config = { own: true }
  app.get('/', { exposeHeadRoute: false, onRequest, errorHandler, config, schema: { querystring: {} } }, handler)
  await app.ready()
  t.equal(seen.length, 1)
  t.strictSame(
    seen.map(route => [route.handler, route.onRequest, route.errorHandler, route.config, 'preValidation' in route]),
    [[handler, onRequest, errorHandler, config, false]],
  )
  await app.inject('/')
  const { spans } = await onlyProfile(t, app, '/')
  const names = spans.map(({ name }) => name)
  t.same(names, ['ofRoute', 'validation', 'added', 'given'])
})

t.test("an application's own addHook and get are not called for the profiler's pages", async t => {
  const app = bareApp(t)
  // As a preloaded module does that is told of each new instance.
  await profiler(app, { directory: makeFolder() })
  const calls: unknown[] = []
  for (const name of ['addHook', 'get'] as const) {
    const method = app[name]
    Object.assign(app, {
      [name](this: FastifyInstance, ...args: unknown[]): unknown {
        calls.push(args[0])
        return Reflect.apply(method, this, args)
      },
    })
  }
  app.addHook('onSend', async () => {})
  app.get('/', async () => 'answer')
  t.equal((await app.inject('/_profiler/')).statusCode, 200)
  t.same(calls, ['onSend', '/'])
})

t.test('onRoute and onRegister hooks from before the profiler are not called for its pages', async t => {
  const callsOf = async (isProfiled: boolean) => {
    const calls: string[] = []
    const app = bareApp(t)
    app.addHook('onRoute', ({ method, url }) => {
      calls.push(`${String(method)} ${url}`)
    })
    app.addHook('onRegister', (_child, { prefix }) => {
      calls.push(`context of ${prefix}`)
    })
    if (isProfiled) await app.register(profiler, { directory: makeFolder() })
    const child = async (child: FastifyInstance) => {
      child.get('/', async () => 'answer')
    }
    app.register(child, { prefix: '/child' })
    await app.ready()
    return calls
  }
  t.same(await callsOf(true), await callsOf(false))
})

t.test('an application finds nothing enumerable of the profiler on what belongs to it', async t => {
  const observed = async (isProfiled: boolean) => {
    const app = Fastify({ logger: keptLines('info').logger })
    t.teardown(() => app.close())
    if (isProfiled) await app.register(profiler, { directory: makeFolder() })
    let stranger = {}
    app.get('/called', async () => 'answer')
    app.post('/', { config: { own: true } }, async function observing(request, reply) {
      const call = httpRequest(`${app.listeningOrigin}/called`, { agent: false }).end()
      const [response] = await once(call, 'response')
      await text(response)
      const stream = ReadableStream.from(['answer'])
      const error = new Error('planted')
      request.log.level = 'warn'
      const belongings = { request, reply, raw: request.raw, response: reply.raw, socket: request.socket, call }
      const others = { received: response, config: request.routeOptions.config, log: request.log, root: app.log }
      setImmediate(() => {
        stranger = namesOn({ ...belongings, ...others, stream, error })
      })
      reply.send(stream)
      return reply
    })
    const { origin } = await listen(app)
    const answer = await fetch(origin, { method: 'POST', body: 'asked', headers: { connection: 'close' } })
    t.equal(await answer.text(), 'answer')
    return stranger
  }
  t.same(await observed(true), await observed(false))
})

/** The enumerable properties of objects, those of the application's prototypes included. */
function namesOn(objects: Record<string, object>): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(objects).map(([name, object]) => {
      const own = Reflect.ownKeys(object).filter(key => Object.prototype.propertyIsEnumerable.call(object, key))
      return [name, own.map(String).sort()]
    }),
  )
}

t.test('a handler wrapped by a hook is traced under the name of the wrapped one', async t => {
  const app = await profiledApp(t)
  app.addHook('onRoute', route => {
    const { handler } = route
    route.handler = function (...args) {
      return handler.apply(this, args)
    }
    Object.defineProperty(route.handler, 'name', { value: '' })
  })
  app.get('/', async function given() {
    return 'answer'
  })
  t.equal((await app.inject('/')).body, 'answer')
  const { spans, routing } = await onlyProfile(t, app, '/')
  t.match(spans, [{ kind: 'handler', name: 'given', location: { file: /other-applications/ } }])
  t.equal(spans.length, 1)
  t.match(routing.matched, { handler: 'given', location: { file: /other-applications/ } })
})

t.test('plugins keep the names that Fastify gives them: their file or their source text', async t => {
  const file = `${makeFolder({ 'plugin.cjs': 'module.exports = function (app, options, done) { done() }' })}/plugin.cjs`
  const names = await Promise.all(
    [false, true].map(async isProfiled => {
      const app = bareApp(t)
      if (isProfiled) await app.register(profiler, { directory: makeFolder() })
      let named = ''
      await app.register(createRequire(import.meta.url)(file))
      const unnamed = (() => (child: FastifyInstance, _options: object, done: () => void) => {
        named = child.pluginName
        done()
      })()
      await app.register(unnamed)
      return [named, app.hasPlugin(file), app.printPlugins().includes(file)]
    }),
  )
  t.same(names[1], names[0])
  t.match(names[1]?.[0], '(child, _options, done) =>')
})

t.test('onReady hooks are run and named as they are without the profiler', async t => {
  // The time of a hook is over when the test says so.
  const pass = fakeTimers(t)
  const start = async (profiled: boolean) => {
    const app = bareApp(t, { pluginTimeout: 10_000 })
    if (profiled) await app.register(profiler, { directory: makeFolder() })
    let isLateHookCalled = false
    app.addHook('onReady', async function addAnother() {
      app.addHook('onReady', async function late() {
        isLateHookCalled = true
      })
    })
    app.addHook('onReady', function forgetful(_done) {
      setImmediate(() => pass(10_000))
    })
    const failure: unknown = await app.ready().then(
      () => null,
      error => error.message,
    )
    return { failure, isLateHookCalled }
  }
  const unwatched = await start(false)
  t.match(unwatched, { failure: /"forgetful" timed out/, isLateHookCalled: false })
  t.same(await start(true), unwatched)
})

t.test('a handler that the application calls itself is not traced again', async t => {
  const app = await profiledApp(t)
  app.get('/', async request =>
    request === undefined ? 'called' : Reflect.apply(Object(request.routeOptions).handler, app, []),
  )
  t.equal((await app.inject('/')).body, 'called')
  t.equal((await onlyProfile(t, app, '/')).spans.length, 1)
})

t.test('a request with so many headers that Node drops some cannot see the profiler', async t => {
  const many = '\r\na:'.repeat(1100)
  const statusOf = async (maxHeadersCount: number | null, headers: string) => {
    const app = await profiledApp(t)
    Object.assign(app.server, { maxHeadersCount })
    const { port } = await listen(app)
    return Number((await getRaw(port, '/_profiler/', `host: localhost\r\naccept: text/html${headers}`)).slice(9, 12))
  }
  const stranger = '\r\nx-forwarded-for: 192.0.2.1'
  t.equal(await statusOf(null, ''), 200)
  // Newer versions of Node refuse such a request themselves.
  const refusals = [404, 431]
  t.ok(refusals.includes(await statusOf(null, many + stranger)), 'beyond the default limit')
  t.ok(refusals.includes(await statusOf(10, '\r\na:'.repeat(20) + stranger)), 'beyond a limit of 10')
  t.equal(await statusOf(0, many), 200, 'no header is dropped')
  t.equal(await statusOf(0, many + stranger), 404)
  const injected = await profiledApp(t)
  const thousand = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`x-${index}`, '']))
  t.equal((await injected.inject({ url: '/_profiler/', headers: thousand })).statusCode, 404, 'on any Node')
})

t.test('a second registration steps aside with one line', async t => {
  const { lines, logger } = keptLines('warn')
  const app = await plainApp(t, { logger })
  await app.register(profiler, { base: '/_second' })
  t.equal(lines.length, 1)
  t.match(lines[0], /already watches this application.* options are ignored: base\./)
  t.equal((await app.inject('/_second/')).statusCode, 404)
})

t.test('beside a profiler of a version without the same parts, the plugin adds nothing', async t => {
  const app = bareApp(t)
  Object.assign(app, { [Symbol.for('fastify-profiler')]: { version: '9.0.0', profiler: {} } })
  await app.register(profiler)
  t.notOk(app.hasDecorator('profiler'))
})

t.test('of three applications on one server, only the one that answers a request profiles it', async t => {
  const handlers: RequestListener[] = []
  const server = createServer((raw, response) => handlers[Number(raw.url?.[1])]?.(raw, response))
  const serverFactory = (handler: RequestListener) => {
    handlers.push(handler)
    return server
  }
  const apps: FastifyInstance[] = []
  const directory = makeFolder()
  for (let number = 0; number < 3; number++) apps.push(await profiledApp(t, { directory }, { serverFactory }))
  for (const [number, app] of apps.entries()) app.get(`/${number}`, async () => number)
  await Promise.all(apps.map(app => app.ready()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = Object(server.address())
  for (const [number, app] of apps.entries()) {
    for (const [path, status] of [
      [`/${number}`, 200],
      [`/${number}/none`, 404],
      [`/${number}/%zz`, 400],
    ] as const) {
      const { headers } = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } })
      const profile = await onlyProfile(t, app, path)
      t.match(profile, { status, token: headers.get('x-debug-token') })
    }
    t.equal((await app.profiler.search({})).total, 3 * (number + 1), 'in the folder that they share')
  }
})
