import { Readable } from 'node:stream'
import type { FastifyInstance, InjectOptions } from 'fastify'
import fp from 'fastify-plugin'
import t, { type Test } from 'tap'
import type { Profile, Span } from '../base/profile.ts'
import { onlyProfile, profiledApp } from './profiled-app.ts'

function spanNamed({ spans }: Profile, name: string): Span {
  const span = spans.find(candidate => candidate.name === name)
  if (span === undefined) {
    throw new Error(`There is no span "${name}" among ${spans.map(each => each.name).join(', ')}.`)
  }
  return span
}

/** How long each nap really took, by its nominal length: timers are late on a busy machine. */
const naps = new Map<number, number>()

function nap(milliseconds: number, done: () => void): void {
  const start = performance.now()
  setTimeout(() => {
    naps.set(milliseconds, performance.now() - start)
    done()
  }, milliseconds)
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise(resolve => {
    nap(milliseconds, resolve)
  })
}

/** Blocks the event loop. */
function toil(milliseconds: number): void {
  const start = performance.now()
  while (performance.now() - start < milliseconds);
  naps.set(milliseconds, performance.now() - start)
}

/**
 * The profile of a request, once each named span took as long as it slept, to within 3 ms. On a busy machine the
 * process may pause between a span's end and its measurement, so the request is repeated.
 */
async function profileInTime(
  t: Test,
  app: FastifyInstance,
  request: InjectOptions,
  times: Record<string, number>,
): Promise<Profile> {
  for (let attempt = 1; ; attempt++) {
    const { headers } = await app.inject(request)
    const profile = await app.profiler.find(String(headers['x-debug-token']))
    if (profile === null) throw new Error('There is no profile.')
    const wrong = Object.entries(times).flatMap(([name, milliseconds]) => {
      const { duration } = spanNamed(profile, name)
      const slept = naps.get(milliseconds) ?? 0
      return slept >= milliseconds - 1 && Math.abs(duration - slept) <= 3
        ? []
        : [`${name} took ${duration} ms, it slept ${slept}`]
    })
    if (wrong.length > 0 && attempt < 5) continue
    t.same(wrong, [])
    return profile
  }
}

t.test('hooks, route hooks and handlers have the time they took and their own names', async t => {
  const app = await profiledApp(t)
  app.addHook('onRequest', async function asyncRequest() {
    await sleep(5)
  })
  app.addHook('onRequest', function callbackRequest(_request, _reply, done) {
    nap(7, done)
  })
  app.addHook('preParsing', async function asyncParsing() {
    await sleep(6)
  })
  app.addHook('preValidation', function callbackValidation(_request, _reply, done) {
    nap(8, done)
  })
  app.addHook('preHandler', async function asyncHandler() {
    await sleep(9)
  })
  app.addHook('preSerialization', function callbackSerialization(_request, _reply, payload, done) {
    nap(10, () => done(null, payload))
  })
  app.addHook('onSend', async function asyncSend() {
    await sleep(11)
  })
  app.addHook('onResponse', function callbackResponse(_request, _reply, done) {
    nap(12, done)
  })
  app.addHook('onResponse', async function asyncResponse() {
    await sleep(13)
  })
  app.post('/', {
    preHandler: [
      async function routeHook() {
        await sleep(14)
      },
    ],
    handler: async function sleepyHandler() {
      await sleep(15)
      return { slept: true }
    },
  })
  const profile = await profileInTime(
    t,
    app,
    { method: 'POST', url: '/', payload: {} },
    {
      asyncRequest: 5,
      callbackRequest: 7,
      asyncParsing: 6,
      callbackValidation: 8,
      asyncHandler: 9,
      callbackSerialization: 10,
      asyncSend: 11,
      callbackResponse: 12,
      asyncResponse: 13,
      routeHook: 14,
      sleepyHandler: 15,
    },
  )
  t.same(
    profile.lifecycle.map(({ name, listeners }) => [name, listeners.map(id => profile.spans[id]?.name)]),
    [
      ['kernel.request', ['asyncRequest', 'callbackRequest', 'asyncParsing']],
      ['kernel.controller', ['callbackValidation', 'asyncHandler']],
      ['kernel.controller_arguments', ['routeHook']],
      ['kernel.response', ['callbackSerialization', 'asyncSend']],
      ['kernel.finish_request', ['callbackResponse', 'asyncResponse']],
    ],
  )
  t.ok(profile.lifecycle.every(({ start, interrupted }) => start !== null && interrupted === null))
  t.match(spanNamed(profile, 'routeHook').location?.file, /tracer\.test\.ts$/)
})

t.test('a hook that a built-in function adds is located at the line that calls the built-in function', async t => {
  const app = await profiledApp(t)
  const hooks = [async function added() {}]
  hooks.forEach(app.addHook.bind(app, 'onRequest'))
  app.get('/', async () => 'ok')
  await app.inject('/')
  t.match(spanNamed(await onlyProfile(t, app, '/'), 'added').location?.file, /tracer\.test\.ts$/)
})

t.test('not-found and error handlers have the time they took', async t => {
  const app = await profiledApp(t)
  app.setNotFoundHandler(
    {
      preHandler: async function beforeNotFound() {
        await sleep(6)
      },
    },
    async function nothingThere(_request, reply) {
      await sleep(8)
      return reply.code(404).send('nothing')
    },
  )
  app.setErrorHandler(async function mend(_error, _request, reply) {
    await sleep(12)
    return reply.code(500).send('mended')
  })
  app.get('/broken', async function breaking() {
    throw new Error('broken')
  })
  app.get('/route', {
    errorHandler: function mendRoute(_error, _request, reply) {
      nap(5, () => {
        reply.code(500).send('route')
      })
    },
    handler: function throwing() {
      throw new TypeError('at once')
    },
  })
  await profileInTime(t, app, { url: '/nowhere' }, { beforeNotFound: 6, nothingThere: 8 })
  const broken = await profileInTime(t, app, { url: '/broken' }, { mend: 12 })
  t.equal(spanNamed(broken, 'breaking').outcome, 'threw')
  t.equal(spanNamed(broken, 'mend').kind, 'error-handler')
  await app.inject('/route')
  const route = await onlyProfile(t, app, '/route')
  t.equal(route.exceptions[0]?.class, 'TypeError')
  t.equal(spanNamed(route, 'mendRoute').routeLevel, true)
})

t.test("a handler's time ends with its reply or its own work, however long it takes to send the reply", async t => {
  const app = await profiledApp(t)
  app.addHook('preSerialization', async function slowly() {
    await sleep(20)
  })
  app.addHook('onSend', async function slowlyToo() {
    await sleep(21)
  })
  app.setNotFoundHandler(async function nothingThere(_request, reply) {
    await sleep(7)
    reply.code(404).send({ no: true })
    return reply
  })
  app.setErrorHandler(async function mend(_error, _request, reply) {
    await sleep(6)
    return reply.code(500).send({ no: true })
  })
  app.get('/broken', async function breaking() {
    throw new Error('broken')
  })
  app.get('/sent', async function failing(_request, reply) {
    await sleep(8)
    return reply.send(new Error('sent'))
  })
  app.get(
    '/called',
    {
      errorHandler: function mendLater(_error, _request, reply) {
        nap(9, () => {
          reply.send('mended')
        })
      },
    },
    async () => {
      throw new Error('broken')
    },
  )
  app.get('/given', async function givingUp(_request, reply) {
    await sleep(5)
    return reply.callNotFound()
  })
  app.get('/returned', async function returning(_request, reply) {
    await sleep(10)
    reply.send({ ok: true })
    return reply
  })
  app.get('/awaited', async function awaiting(_request, reply) {
    await sleep(11)
    await reply.send({ ok: true })
  })
  app.get('/forgotten', async function forgetting(_request, reply) {
    await sleep(12)
    reply.send({ ok: true })
  })
  app.get('/later', function replyingLater(_request, reply) {
    nap(13, () => {
      reply.send({ ok: true })
    })
    return reply
  })
  app.get('/callback', function callingBack(_request, reply) {
    nap(14, () => {
      reply.send({ ok: true })
    })
  })
  app.get(
    '/hook',
    {
      onRequest: async function refusing(_request, reply) {
        await sleep(15)
        return reply.code(403).send({ no: true })
      },
    },
    async () => 'never',
  )
  app.get('/stream', async function streaming(_request, reply) {
    await sleep(16)
    return reply.send(
      Readable.from(
        (async function* () {
          await sleep(22)
          yield 'piece'
        })(),
      ),
    )
  })
  for (const [url, times] of [
    ['/nowhere', { nothingThere: 7, slowly: 20, slowlyToo: 21 }],
    ['/broken', { mend: 6 }],
    ['/sent', { failing: 8, mend: 6 }],
    ['/called', { mendLater: 9 }],
    ['/given', { givingUp: 5, nothingThere: 7 }],
    ['/returned', { returning: 10, slowly: 20, slowlyToo: 21 }],
    ['/awaited', { awaiting: 11 }],
    ['/forgotten', { forgetting: 12 }],
    ['/later', { replyingLater: 13 }],
    ['/callback', { callingBack: 14 }],
    ['/hook', { refusing: 15 }],
    ['/stream', { streaming: 16 }],
  ] as const) {
    await profileInTime(t, app, { url }, times)
  }
})

t.test('a handler that keeps working after its reply lasts until it ends', async t => {
  const app = await profiledApp(t)
  app.addHook('onSend', async function slowly() {
    await sleep(20)
  })
  app.get('/during', async function workingOn(_request, reply) {
    reply.send('ok')
    await sleep(10)
    return reply
  })
  app.get('/after', async function workingLonger(_request, reply) {
    reply.send('ok')
    await sleep(30)
  })
  app.get('/once-out', async function workingOnceOut(_request, reply) {
    await reply.send('ok')
    await sleep(11)
  })
  app.get('/at-once', function atOnce(_request, reply) {
    reply.send('ok')
    return reply
  })
  await profileInTime(t, app, { url: '/during' }, { workingOn: 10 })
  await profileInTime(t, app, { url: '/after' }, { workingLonger: 30 })
  await profileInTime(t, app, { url: '/once-out' }, { workingOnceOut: 11 })
  await app.inject('/at-once')
  t.equal(spanNamed(await onlyProfile(t, app, '/at-once'), 'atOnce').outcome, 'replied')
})

t.test("a handler's time excludes the hooks that run while it sends", async t => {
  const app = await profiledApp(t)
  app.addHook('onSend', function slowly(_request, _reply, payload, done) {
    toil(20)
    done(null, payload)
  })
  app.setErrorHandler(function mend(_error, _request, reply) {
    toil(5)
    reply.send('mended')
  })
  app.get('/sends', function sending(_request, reply) {
    toil(6)
    reply.send('ok')
  })
  app.get('/returns', async function returning(_request, reply) {
    toil(7)
    return reply.send('ok')
  })
  app.get('/goes-on', async function goingOn(_request, reply) {
    reply.send('ok')
    await sleep(10)
  })
  app.get('/toils-on', function toilingOn(_request, reply) {
    reply.send('ok')
    toil(9)
  })
  app.get('/waits', async function waiting(_request, reply) {
    nap(11, () => {
      reply.send('ok')
    })
    return reply
  })
  app.get('/broken', async function breaking() {
    throw new Error('broken')
  })
  app.get(
    '/hook',
    {
      preHandler: function refusing(_request, reply) {
        toil(12)
        reply.code(403).send('no')
      },
    },
    async () => 'never',
  )
  for (const [url, times] of [
    ['/sends', { sending: 6, slowly: 20 }],
    ['/returns', { returning: 7, slowly: 20 }],
    ['/toils-on', { toilingOn: 9 }],
    ['/goes-on', { goingOn: 10 }],
    ['/waits', { waiting: 11 }],
    ['/broken', { mend: 5, slowly: 20 }],
    ['/hook', { refusing: 12 }],
  ] as const) {
    await profileInTime(t, app, { url }, times)
  }
})

t.test('an interruption names its cause, whether that threw, failed or replied', async t => {
  const app = await profiledApp(t)
  app.get(
    '/threw',
    {
      onRequest: async function refusing() {
        throw new Error('no')
      },
    },
    async () => 'never',
  )
  app.get(
    '/failed',
    {
      preHandler: function failing(_request, _reply, done) {
        done(new Error('no'))
      },
    },
    async () => 'never',
  )
  app.get(
    '/answered',
    {
      onRequest: function answering(_request, reply) {
        reply.code(403).send('no')
      },
    },
    async () => 'never',
  )
  app.get(
    '/returned',
    {
      preHandler: async function returning(_request, reply) {
        return reply.code(401).send('no')
      },
    },
    async () => 'never',
  )
  for (const [url, point, name, exception] of [
    ['/threw', 0, 'refusing', 0],
    ['/failed', 2, 'failing', 0],
    ['/answered', 0, 'answering', null],
    ['/returned', 2, 'returning', null],
  ] as const) {
    await app.inject(url)
    const { lifecycle, spans } = await onlyProfile(t, app, url)
    const interrupted = lifecycle[point]?.interrupted
    t.equal(spans[interrupted?.span ?? -1]?.name, name)
    t.equal(interrupted?.exception, exception)
    t.notOk(
      spans.some(({ kind }) => kind === 'handler'),
      'the handler did not run',
    )
  }
})

t.test('any truthy value that a hook passes to done is its error', async t => {
  const app = await profiledApp(t)
  const values = { text: 'text', number: 42, object: {}, function() {} }
  for (const [name, value] of Object.entries(values)) {
    app.get(
      `/${name}`,
      {
        preHandler: function refusing(_request, _reply, done) {
          Reflect.apply(done, undefined, [value])
        },
      },
      async () => 'never',
    )
  }
  app.get(
    '/none',
    {
      preHandler: function passing(_request, _reply, done) {
        Reflect.apply(done, undefined, [null])
      },
      onSend: function sending(_request, _reply, _payload, done) {
        done(null, 'payload')
      },
    },
    async () => 'ok',
  )
  for (const name of Object.keys(values)) {
    await app.inject(`/${name}`)
    const { lifecycle, spans, exceptions } = await onlyProfile(t, app, `/${name}`)
    t.equal(spanNamed(await onlyProfile(t, app, `/${name}`), 'refusing').outcome, 'threw', name)
    t.same(lifecycle[2]?.interrupted, { span: spans.findIndex(span => span.name === 'refusing'), exception: 0 })
    t.same(lifecycle.filter(({ interrupted }) => interrupted !== null).length, 1)
    t.equal(exceptions.length, 1)
  }
  t.equal((await app.inject('/none')).body, 'payload')
  const { spans } = await onlyProfile(t, app, '/none')
  t.same(spans.map(({ name, outcome }) => `${name} ${outcome}`).sort(), [
    'GET /none replied',
    'passing continued',
    'sending continued',
  ])
})

t.test('a hook is attributed to the plugin that registers it, not to the one loaded before', async t => {
  const app = await profiledApp(t)
  await app.register(
    fp(
      async function first(scope) {
        await sleep(1)
        scope.addHook('onRequest', async function ofFirst() {})
      },
      { name: 'first' },
    ),
  )
  app.addHook('onRequest', async function ofApplication() {})
  app.register(function second(scope, _options, done) {
    scope.addHook('onRequest', async function ofSecond() {})
    scope.get('/', async () => 'ok')
    done()
  })
  await app.inject('/')
  const profile = await onlyProfile(t, app, '/')
  t.equal(spanNamed(profile, 'ofFirst').plugin, 'first')
  t.equal(spanNamed(profile, 'ofApplication').plugin, null)
  t.equal(spanNamed(profile, 'ofSecond').plugin, 'second')
  const { configuration } = app.profiler.viewContext(profile)
  t.same(
    configuration?.plugins.children.map(({ name }) => name),
    ['first', 'second'],
  )
  t.same(
    configuration?.routes.map(({ url, method, plugin }) => ({ url, method, plugin })),
    [{ url: '/', method: ['GET'], plugin: 'second' }],
  )
})

t.test('hooks that an onRoute hook adds to a route are timed', async t => {
  const app = await profiledApp(t)
  app.addHook('onRoute', function addToRoute(route) {
    route.preHandler = async function addedLater() {
      await sleep(5)
    }
  })
  app.get('/', async () => 'ok')
  await profileInTime(t, app, { url: '/' }, { addedLater: 5 })
})

t.test('traced functions keep their this, their arity and whether they are async', async t => {
  const app = await profiledApp(t)
  app.decorate('answer', 42)
  app.addHook('onRequest', async function keeping() {
    t.equal(Reflect.get(this, 'answer'), 42)
  })
  app.get('/', async function handler() {
    return { answer: Reflect.get(this, 'answer') }
  })
  const hooks = { three: async (_request: unknown, _reply: unknown, _done: unknown) => {} }
  t.throws(() => app.addHook('onRequest', Reflect.get(hooks, String('three'))), {
    code: 'FST_ERR_HOOK_INVALID_ASYNC_HANDLER',
  })
  t.throws(() => app.addHook('onSend', Reflect.get({}, 'none')), { code: 'FST_ERR_HOOK_INVALID_HANDLER' })
  t.throws(() => app.setErrorHandler(Reflect.get({}, 'none')), { code: 'FST_ERR_ERROR_HANDLER_NOT_FN' })
  t.same((await app.inject('/')).json(), { answer: 42 })
})

t.test('a panel can add its own spans, during a hook and after the response', async t => {
  const app = await profiledApp(t)
  app.get('/', async function reading(request) {
    request.recorder?.record({ kind: 'cache', name: 'read', detail: 'key' }, 0.5)
    const query = request.recorder?.span({ kind: 'query', name: 'select', detail: 'select 1' })
    nap(20, () => {
      query?.end()
      query?.end('threw')
    })
    return 'ok'
  })
  const profile = await profileInTime(t, app, { url: '/' }, { select: 20 })
  t.equal(spanNamed(profile, 'select').outcome, 'continued')
  t.equal(profile.spans[spanNamed(profile, 'read').parent ?? -1]?.name, 'reading')
})

t.test('a profile does not wait forever for a span that a panel never ends', async t => {
  const app = await profiledApp(t, { patience: 10 })
  app.get('/', async request => {
    request.recorder?.span({ kind: 'query', name: 'endless' })
    return 'ok'
  })
  await app.inject('/')
  t.equal(spanNamed(await onlyProfile(t, app, '/'), 'endless').outcome, 'unfinished')
})

t.test('near misses are named, by method, trailing slash or similarity', async t => {
  const app = await profiledApp(t)
  app.put('/things/:id', async () => 'put')
  app.get('/items/', async () => 'list')
  app.get('/version', async () => '1')
  app.get('*', { constraints: { host: 'elsewhere' } }, async () => 'all')
  app.get('/a/:b/c', async () => 'deep')
  for (const [url, expected] of [
    ['/a/1', 'similar GET /a/:b/c'],
    ['/itemz/one', 'similar GET /items/'],
    ['/things/5', 'method PUT /things/:id'],
    ['/items', 'slash GET /items/'],
    ['/versoin', 'similar GET /version'],
  ] as const) {
    await app.inject(url)
    const { routing } = await onlyProfile(t, app, url)
    const [nearest] = routing.nearMisses
    t.equal(routing.matched, null)
    t.equal(`${nearest?.reason} ${nearest?.method} ${nearest?.url}`, expected)
  }
})

t.test('plugins of every form are named: imported modules, promises and anonymous functions', async t => {
  const app = await profiledApp(t)
  const module = {
    default: async function ofModule(scope: FastifyInstance) {
      scope.get('/module', async () => 'ok')
    },
  }
  Reflect.apply(app.register, app, [module])
  app.register(
    Promise.resolve({
      default: async function promised(scope: FastifyInstance) {
        scope.get('/promised', async () => 'ok')
      },
    }),
  )
  app.register(async scope => {
    scope.get('/nameless', async () => 'ok')
  })
  t.throws(() => app.register(Reflect.get({}, 'none')), { code: 'AVV_ERR_PLUGIN_NOT_VALID' })
  for (const [url, plugin] of [
    ['/module', /^ofModule$/],
    ['/promised', /^promised$/],
    ['/nameless', /^tracer\.test\.ts:\d+$/],
  ] as const) {
    await app.inject(url)
    t.match((await onlyProfile(t, app, url)).routing.matched?.plugin, plugin)
  }
})

t.test('a handler without a name is called by its method and pattern', async t => {
  const app = await profiledApp(t)
  app.get('/users/:id', async () => 'ok')
  app.route({ method: ['PUT', 'PATCH'], url: '/users/:id', handler: () => 'ok' })
  app.all('/anything', async () => 'ok')
  for (const [method, url, name] of [
    ['GET', '/users/1', 'GET /users/:id'],
    ['HEAD', '/users/2', 'GET /users/:id'],
    ['PATCH', '/users/3', 'PUT, PATCH /users/:id'],
    ['GET', '/anything', 'ALL /anything'],
  ] as const) {
    await app.inject({ method, url })
    const { routing, spans } = await onlyProfile(t, app, url)
    t.equal(routing.matched?.handler, name)
    t.same(
      spans.filter(({ kind }) => kind === 'handler').map(({ name }) => name),
      [name],
    )
  }
})

t.test('hooks without a call site, synchronous handlers and handlers called directly work as usual', async t => {
  const app = await profiledApp(t)
  await new Promise<void>(resolve => {
    setImmediate(Reflect.apply, app.addHook, app, ['onRequest', async function late() {}])
    setImmediate(Reflect.apply, app.register, app, [async () => {}])
    setImmediate(resolve)
  })
  const handlers: unknown[] = []
  app.addHook('onRoute', ({ handler }) => {
    handlers.push(handler)
  })
  Reflect.apply(app.setNotFoundHandler, app, [])
  app.get('/at-once', function atOnce() {
    return 'at once'
  })
  t.throws(() => app.get('/odd', { preHandler: [Reflect.get({}, 'none')] }, async () => 'never'), {
    code: 'FST_ERR_HOOK_INVALID_HANDLER',
  })
  t.equal((await app.inject('/at-once')).body, 'at once')
  t.equal((await app.inject('/nowhere')).statusCode, 404)
  const profile = await onlyProfile(t, app, '/at-once')
  t.match(spanNamed(profile, 'late'), { location: null, outcome: 'continued' })
  t.match(spanNamed(profile, 'atOnce'), { outcome: 'replied' })
  const [handler] = handlers
  t.equal(typeof handler === 'function' && Reflect.apply(handler, app, []), 'at once')
})

t.test('a query started by another after everything else has ended is in the profile too', async t => {
  const app = await profiledApp(t)
  app.get('/', async ({ recorder }) => {
    const first = recorder?.span({ kind: 'query', name: 'first' })
    nap(5, () => {
      const second = recorder?.span({ kind: 'query', name: 'second' })
      first?.end()
      nap(5, () => second?.end())
    })
    return 'ok'
  })
  await app.inject('/')
  t.match(spanNamed(await onlyProfile(t, app, '/'), 'second'), {
    parent: null,
    dispatchPoint: null,
    outcome: 'continued',
  })
})

t.test('a hook with a callback ends when it calls back, whatever it returns before', async t => {
  const app = await profiledApp(t)
  app.addHook('onRequest', function late(_request, _reply, done) {
    setTimeout(done, 20)
    return true
  })
  app.get('/', async () => 'fine')
  await app.inject('/')
  const profile = await onlyProfile(t, app, '/')
  t.ok(spanNamed(profile, 'late').duration > 10)
})

t.test('a traced function that the application itself calls runs as ever, even with hostile arguments', async t => {
  const app = await profiledApp(t)
  const handlers: unknown[] = []
  app.addHook('onRoute', ({ handler }) => {
    handlers.push(handler)
  })
  app.get('/', { exposeHeadRoute: false }, async () => 'called')
  const hostile = {
    get raw() {
      throw new Error('no raw')
    },
  }
  const [handler] = handlers
  t.equal(typeof handler === 'function' && (await Reflect.apply(handler, app, [hostile])), 'called')
})
