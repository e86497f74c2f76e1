import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import Fastify, { type FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import t, { type Test } from 'tap'
import type { Profile, Span } from '../core/profile.ts'
import profiler from '../index.ts'
import { fakeClock } from './fake-clock.ts'
import { makeFolder } from './folder.ts'
import { profiledApp, profileOf, turns } from './profiled-app.ts'

function spanNamed({ spans }: Profile, name: string): Span {
  const span = spans.find(candidate => candidate.name === name)
  if (span === undefined) {
    throw new Error(`There is no span "${name}" among ${spans.map(each => each.name).join(', ')}.`)
  }
  return span
}

/** The durations of spans by their names. */
function durationsOf(profile: Profile, names: Iterable<string>): Record<string, number> {
  return Object.fromEntries([...names].map(name => [name, spanNamed(profile, name).duration]))
}

t.test('hooks, route hooks and handlers have the time they took and their own names', async t => {
  const { sleep } = fakeClock(t)
  const app = await profiledApp(t)
  app.addHook('onRequest', async function asyncRequest() {
    await sleep(5)
  })
  app.addHook('onRequest', function callbackRequest(_request, _reply, done) {
    void sleep(7).then(() => done())
  })
  app.addHook('preParsing', async function asyncParsing() {
    await sleep(6)
  })
  app.addHook('preValidation', function callbackValidation(_request, _reply, done) {
    void sleep(8).then(() => done())
  })
  app.addHook('preHandler', async function asyncHandler() {
    await sleep(9)
  })
  app.addHook('preSerialization', function callbackSerialization(_request, _reply, payload, done) {
    void sleep(10).then(() => done(null, payload))
  })
  app.addHook('onSend', async function asyncSend() {
    await sleep(11)
  })
  app.addHook('onResponse', function callbackResponse(_request, _reply, done) {
    void sleep(12).then(() => done())
  })
  app.addHook('onResponse', async function asyncResponse() {
    await sleep(13)
  })
  app.post('/', {
    preHandler: async function routeHook() {
      await sleep(14)
    },
    handler: async function sleepyHandler() {
      await sleep(15)
      return { slept: true }
    },
  })
  const profile = await profileOf(app, { method: 'POST', url: '/', payload: {} })
  const durations = profile.spans.map(({ duration }) => duration)
  t.same(durations, [5, 7, 6, 8, 9, 14, 15, 10, 11, 12, 13])
  const listeners = profile.lifecycle.map(({ name, listeners }) => [name, listeners.map(id => profile.spans[id]?.name)])
  t.same(listeners, [
    ['kernel.request', ['asyncRequest', 'callbackRequest', 'asyncParsing']],
    ['kernel.controller', ['callbackValidation', 'asyncHandler']],
    ['kernel.controller_arguments', ['routeHook']],
    ['kernel.response', ['callbackSerialization', 'asyncSend']],
    ['kernel.finish_request', ['callbackResponse', 'asyncResponse']],
  ])
  t.ok(profile.lifecycle.every(({ start, interrupted }) => start !== null && interrupted === null))
  t.match(spanNamed(profile, 'routeHook').location?.file, /tracer\.test\.ts$/)
})

t.test('a hook that a built-in function adds is located at the line that calls the built-in function', async t => {
  const app = await profiledApp(t)
  const hooks = [async function added() {}]
  hooks.forEach(app.addHook.bind(app, 'onRequest'))
  app.get('/', async () => 'ok')
  t.match(spanNamed(await profileOf(app, '/'), 'added').location?.file, /tracer\.test\.ts$/)
})

/** Requests each URL and compares the durations of its spans. They are exact: only the fake clock lets time pass. */
async function compareDurations(t: Test, app: FastifyInstance, times: Record<string, Record<string, number>>) {
  for (const [url, expected] of Object.entries(times)) {
    t.same(durationsOf(await profileOf(app, url), Object.keys(expected)), expected, url)
  }
}

t.test("a handler's time ends with its reply or its own work, however long it takes to send the reply", async t => {
  const { sleep } = fakeClock(t)
  const app = await profiledApp(t)
  app.addHook('preSerialization', async function slowly() {
    await sleep(20)
  })
  app.addHook('onSend', async function slowlyToo() {
    await sleep(21)
  })
  app.setNotFoundHandler(
    {
      preHandler: async function beforeNotFound() {
        await sleep(4)
      },
    },
    async function nothingThere(_request, reply) {
      await sleep(7)
      reply.code(404).send({ no: true })
      return reply
    },
  )
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
  app.get('/called', {
    errorHandler: function mendLater(_error, _request, reply) {
      void sleep(9).then(() => reply.send('mended'))
    },
    handler: function throwing() {
      throw new TypeError('at once')
    },
  })
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
    void sleep(13).then(() => reply.send({ ok: true }))
    return reply
  })
  app.get('/callback', function callingBack(_request, reply) {
    void sleep(14).then(() => reply.send({ ok: true }))
  })
  app.get('/hook', {
    onRequest: async function refusing(_request, reply) {
      await sleep(15)
      return reply.code(403).send({ no: true })
    },
    handler: async () => 'never',
  })
  app.get('/stream', async function streaming(_request, reply) {
    await sleep(16)
    const pieces = async function* () {
      await sleep(22)
      yield 'piece'
    }
    return reply.send(Readable.from(pieces()))
  })
  await compareDurations(t, app, {
    '/nowhere': { beforeNotFound: 4, nothingThere: 7, slowly: 20, slowlyToo: 21 },
    '/broken': { mend: 6 },
    '/sent': { failing: 8, mend: 6 },
    '/called': { mendLater: 9 },
    '/given': { givingUp: 5, nothingThere: 7 },
    '/returned': { returning: 10, slowly: 20, slowlyToo: 21 },
    '/awaited': { awaiting: 11 },
    '/forgotten': { forgetting: 12 },
    '/later': { replyingLater: 13 },
    '/callback': { callingBack: 14 },
    '/hook': { refusing: 15 },
    '/stream': { streaming: 16 },
  })
  const broken = await profileOf(app, '/broken')
  t.match(spanNamed(broken, 'breaking'), { outcome: 'threw' })
  t.match(spanNamed(broken, 'mend'), { kind: 'error-handler' })
  const called = await profileOf(app, '/called')
  t.equal(called.exceptions[0]?.class, 'TypeError')
  t.match(spanNamed(called, 'mendLater'), { routeLevel: true })
})

t.test('a handler that keeps working after its reply lasts until it ends', async t => {
  const { sleep } = fakeClock(t)
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
  await compareDurations(t, app, {
    '/during': { workingOn: 10 },
    '/after': { workingLonger: 30 },
    '/once-out': { workingOnceOut: 11 },
    '/at-once': { atOnce: 0 },
  })
  t.equal(spanNamed(await profileOf(app, '/at-once'), 'atOnce').outcome, 'replied')
})

t.test("a handler's time excludes the hooks that run while it sends", async t => {
  const { block } = fakeClock(t)
  const app = await profiledApp(t)
  app.addHook('onSend', function slowly(_request, _reply, payload, done) {
    block(20)
    done(null, payload)
  })
  app.setErrorHandler(function mend(_error, _request, reply) {
    block(5)
    reply.send('mended')
  })
  app.get('/sends', function sending(_request, reply) {
    block(6)
    reply.send('ok')
  })
  app.get('/returns', async function returning(_request, reply) {
    block(7)
    return reply.send('ok')
  })
  app.get('/works-on', function workingOn(_request, reply) {
    reply.send('ok')
    block(9)
  })
  app.get('/broken', async function breaking() {
    throw new Error('broken')
  })
  app.get('/hook', {
    preHandler: function refusing(_request, reply) {
      block(12)
      reply.code(403).send('no')
    },
    handler: async () => 'never',
  })
  await compareDurations(t, app, {
    '/sends': { sending: 6, slowly: 20 },
    '/returns': { returning: 7, slowly: 20 },
    '/works-on': { workingOn: 9 },
    '/broken': { mend: 5, slowly: 20 },
    '/hook': { refusing: 12 },
  })
})

t.test('any truthy value that a hook passes to done is its error', async t => {
  const app = await profiledApp(t)
  const values: Record<string, unknown> = { text: 'text', number: 42, object: {}, null: null }
  for (const [name, value] of Object.entries(values)) {
    app.get(`/${name}`, {
      preHandler: function passing(_request, _reply, done) {
        Reflect.apply(done, undefined, [value])
      },
      onSend: function sending(_request, _reply, payload, done) {
        done(null, payload)
      },
      handler: async () => 'ok',
    })
  }
  for (const name of ['text', 'number', 'object']) {
    const { lifecycle, spans, exceptions } = await profileOf(app, `/${name}`)
    t.match(spans, [{ name: 'passing', outcome: 'threw' }], name)
    const interruptions = lifecycle.map(({ interrupted }) => interrupted)
    t.same(interruptions, [null, null, { span: 0, exception: 0 }, null, null])
    t.equal(exceptions.length, 1)
  }
  const { spans } = await profileOf(app, '/null')
  const found = spans.map(({ name, outcome }) => `${name} ${outcome}`)
  t.same(found, ['passing continued', 'GET /null replied', 'sending continued'])
})

t.test('a hook is attributed to the plugin that registers it, not to the one loaded before', async t => {
  const app = await profiledApp(t)
  const first = async (scope: FastifyInstance) => {
    await turns()
    scope.addHook('onRequest', async function ofFirst() {})
  }
  await app.register(fp(first, { name: 'first' }))
  app.addHook('onRequest', async function ofApplication() {})
  app.register(function second(scope, _options, done) {
    scope.addHook('onRequest', async function ofSecond() {})
    scope.get('/', async () => 'ok')
    done()
  })
  const profile = await profileOf(app, '/')
  t.equal(spanNamed(profile, 'ofFirst').plugin, 'first')
  t.equal(spanNamed(profile, 'ofApplication').plugin, null)
  t.equal(spanNamed(profile, 'ofSecond').plugin, 'second')
  const { configuration } = app.profiler.viewContext(profile)
  const found = configuration?.plugins.children.map(({ name }) => name)
  t.same(found, ['first', 'second'])
  const shown = configuration?.routes.map(({ url, method, plugin }) => ({ url, method, plugin }))
  t.same(shown, [{ url: '/', method: ['GET'], plugin: 'second' }])
})

t.test('hooks that an onRoute hook adds to a route are timed', async t => {
  const { sleep } = fakeClock(t)
  const app = await profiledApp(t)
  app.addHook('onRoute', function addToRoute(route) {
    route.preHandler = async function addedLater() {
      await sleep(5)
    }
  })
  app.get('/', async () => 'ok')
  await compareDurations(t, app, { '/': { addedLater: 5 } })
})

t.test('what an onRoute hook adds to a route belongs to the plugin of that hook, and has its own line', async t => {
  const app = await profiledApp(t)
  const { file, library } = onRouteLibrary()
  const shared = async function ofBoth() {}
  await app.register(fp(library, { name: 'library' }))
  await app.register(async function shop(within) {
    within.get('/', { preHandler: shared }, async function failing() {
      throw new Error('closed')
    })
    within.addHook('onRoute', route => {
      route.onRequest = shared
    })
    within.get('/again', { preHandler: shared }, async () => 'ok')
  })
  for (const url of ['/', '/again']) {
    const { spans } = await profileOf(app, url)
    const placeOf = (named: string) => {
      const { location, plugin } = spans.find(({ hook, name }) => named === `${hook} ${name}`) ?? {}
      return [plugin, location?.file === file ? location.line : basename(location?.file ?? 'none')]
    }
    t.same(placeOf('preHandler ofLibrary'), ['library', 3])
    t.same(placeOf('onSend sending'), ['library', 'none'], 'V8 does not tell where a bound function stands')
    const ofRoute = ['shop', 'tracer.test.ts']
    t.same(placeOf('preHandler ofBoth'), ofRoute)
    if (url === '/again') t.same(placeOf('onRequest ofBoth'), ofRoute, 'a function that the route has already')
    else t.same(placeOf('null answering'), ['library', 5])
  }
})

t.test('what an onRoute hook from before the profiler adds to a route has its own line, too', async t => {
  const app = Fastify()
  t.teardown(() => app.close())
  const { file, library } = onRouteLibrary()
  await app.register(fp(library))
  await app.register(profiler, { directory: makeFolder() })
  await app.register(async function shop(within) {
    within.get('/', async () => 'ok')
  })
  const { spans } = await profileOf(app, '/')
  t.match(spans[0], { name: 'ofLibrary', plugin: null, location: { file, line: 3 } })
  t.match(spans[1], { kind: 'handler', plugin: 'shop' })
})

/** A plugin whose onRoute hook adds hooks and an error handler to each route. */
function onRouteLibrary() {
  const text = `exports.library = async app => {
  app.addHook('onRoute', route => {
    const own = async function ofLibrary () {}
    route.preHandler = [own].concat(route.preHandler ?? [])
    route.errorHandler = function answering (error, request, reply) { reply.send('answered') }
    route.onSend = async function sending () {}.bind(null)
  })
}`
  const file = join(makeFolder({ 'library.cjs': text }), 'library.cjs')
  const { library } = createRequire(import.meta.url)(file)
  return { file, library }
}

t.test('a hook with a callback ends when it calls back, whatever it returns before', async t => {
  const { sleep } = fakeClock(t)
  const app = await profiledApp(t)
  app.addHook('onRequest', function late(_request, _reply, done) {
    void sleep(20).then(() => done())
    return true
  })
  app.get('/', async () => 'fine')
  await compareDurations(t, app, { '/': { late: 20 } })
})

t.test('traced functions keep their this, their arity and whether they are async', async t => {
  const app = await profiledApp(t)
  app.decorate('answer', 42)
  app.addHook('onRequest', async function keeping() {
    t.equal(Reflect.get(this, 'answer'), 42)
  })
  Reflect.apply(app.setNotFoundHandler, app, [])
  app.get('/', async function handler() {
    return { answer: Reflect.get(this, 'answer') }
  })
  app.get('/at-once', function atOnce() {
    return 'at once'
  })
  const hooks = { three: async (_request: unknown, _reply: unknown, _done: unknown) => {} }
  t.throws(() => app.addHook('onRequest', Reflect.get(hooks, String('three'))), {
    code: 'FST_ERR_HOOK_INVALID_ASYNC_HANDLER',
  })
  const none = Reflect.get({}, 'none')
  t.throws(() => app.addHook('onSend', none), { code: 'FST_ERR_HOOK_INVALID_HANDLER' })
  t.throws(() => app.setErrorHandler(none), { code: 'FST_ERR_ERROR_HANDLER_NOT_FN' })
  t.throws(() => app.get('/odd', { preHandler: [none] }, async () => 'never'), { code: 'FST_ERR_HOOK_INVALID_HANDLER' })
  t.same((await app.inject('/')).json(), { answer: 42 })
  t.equal((await app.inject('/at-once')).body, 'at once')
  t.equal((await app.inject('/nowhere')).statusCode, 404)
  t.match(spanNamed(await profileOf(app, '/at-once'), 'atOnce'), { outcome: 'replied' })
})

t.test('a panel can add its own spans, during a hook and after the response', async t => {
  const { sleep } = fakeClock(t)
  const app = await profiledApp(t)
  app.get('/', async function reading({ recorder }) {
    recorder?.record({ kind: 'cache', name: 'read', detail: 'key' }, 0.5)
    const query = recorder?.span({ kind: 'query', name: 'select', detail: 'select 1' })
    void sleep(20).then(() => {
      query?.end()
      query?.end('threw')
    })
    return 'ok'
  })
  const profile = await profileOf(app, '/')
  t.match(spanNamed(profile, 'select'), { duration: 20, outcome: 'continued' })
  t.equal(profile.spans[spanNamed(profile, 'read').parent ?? -1]?.name, 'reading')
})

t.test('a query started by another after everything else has ended is in the profile too', async t => {
  const { sleep } = fakeClock(t)
  const app = await profiledApp(t)
  app.get('/', async ({ recorder }) => {
    const first = recorder?.span({ kind: 'query', name: 'first' })
    void sleep(5).then(async () => {
      const second = recorder?.span({ kind: 'query', name: 'second' })
      first?.end()
      await sleep(6)
      second?.end()
    })
    return 'ok'
  })
  t.match(spanNamed(await profileOf(app, '/'), 'second'), {
    parent: null,
    dispatchPoint: null,
    duration: 6,
    outcome: 'continued',
  })
})

t.test('a profile does not wait forever for a span that a panel never ends', async t => {
  const app = await profiledApp(t, { patience: 10 })
  app.get('/', async request => {
    request.recorder?.span({ kind: 'query', name: 'endless' })
    return 'ok'
  })
  t.equal(spanNamed(await profileOf(app, '/'), 'endless').outcome, 'unfinished')
})

t.test('plugins of every form are named: imported modules, promises and anonymous functions', async t => {
  const app = await profiledApp(t)
  const module = {
    default: async function ofModule(scope: FastifyInstance) {
      scope.get('/module', async () => 'ok')
    },
  }
  const loaded = Promise.resolve({
    default: async function promised(scope: FastifyInstance) {
      scope.get('/promised', async () => 'ok')
    },
  })
  Reflect.apply(app.register, app, [module])
  app.register(loaded)
  app.register(async scope => {
    scope.get('/nameless', async () => 'ok')
  })
  t.throws(() => app.register(Reflect.get({}, 'none')), { code: 'AVV_ERR_PLUGIN_NOT_VALID' })
  for (const [url, plugin] of [
    ['/module', /^ofModule$/],
    ['/promised', /^promised$/],
    ['/nameless', /^tracer\.test\.ts:\d+$/],
  ] as const) {
    t.match((await profileOf(app, url)).routing.matched?.plugin, plugin)
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
    const { routing, spans } = await profileOf(app, { method, url })
    t.equal(routing.matched?.handler, name)
    t.match(spans, [{ kind: 'handler', name }])
  }
})
