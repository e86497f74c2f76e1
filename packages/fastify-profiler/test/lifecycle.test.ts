import type { FastifyInstance, InjectOptions } from 'fastify'
import t from 'tap'
import { pageOf, profiledApp, profileOf } from './profiled-app.ts'

const handler = async () => 'never'

/** The lifecycle of a request: each interruption by dispatch point, the outcome of each span, and the panel's text. */
async function lifecycleOf(app: FastifyInstance, request: InjectOptions | string) {
  const profile = await profileOf(app, request)
  const { lifecycle, spans, exceptions } = profile
  const interruptions = lifecycle.flatMap(({ name, interrupted }) =>
    interrupted === null
      ? []
      : `${name} ${spans[interrupted.span ?? -1]?.name ?? 'Fastify'} ${exceptions[interrupted.exception ?? -1]?.message ?? 'answer'}`,
  )
  const outcomes = spans.map(({ name, outcome }) => `${name} ${outcome}`)
  const path = `${profile.token}?panel=lifecycle`
  const [page, markdown] = [await pageOf(app, path), await pageOf(app, path, 'text/markdown')]
  return { interruptions, outcomes, profile, page, markdown }
}

t.test('a handler that sends or returns an error has thrown, and interrupts nothing', async t => {
  const app = await profiledApp(t)
  app.addHook('preHandler', async function before() {})
  app.get('/sends', function failing(_request, reply) {
    reply.send(new Error('sent'))
  })
  app.get('/later', async function failing(_request, reply) {
    return reply.send(new Error('sent'))
  })
  app.get('/returns', async function failing() {
    return new Error('sent')
  })
  app.get('/gives', function failing() {
    return new Error('sent')
  })
  for (const url of ['/sends', '/later', '/returns', '/gives']) {
    const { interruptions, markdown, outcomes, profile, page } = await lifecycleOf(app, url)
    t.same(interruptions, [], url)
    t.match(markdown, /controller\\?_arguments[^]*failing[^]*kernel\\?\.response/, 'the handler stands in its place')
    t.same(outcomes, ['before continued', 'failing threw'])
    const found = profile.exceptions.map(({ message, spans }) => [message, spans])
    t.same(found, [['sent', [1]]])
    t.match(page, 'No application error handler was called.')
  }
})

t.test('a hook that throws, fails or sends an error interrupts its dispatch point, and has not replied', async t => {
  const app = await profiledApp(t)
  app.get('/threw', {
    onRequest: async function refusing() {
      throw new Error('sent')
    },
    handler,
  })
  app.get('/failed', {
    onRequest: function refusing(_request, _reply, done) {
      done(new Error('sent'))
    },
    handler,
  })
  app.get('/', {
    onRequest: function refusing(_request, reply) {
      reply.send(new Error('sent'))
    },
    handler,
  })
  for (const url of ['/', '/threw', '/failed']) {
    const { interruptions, markdown, outcomes, page } = await lifecycleOf(app, url)
    t.same(interruptions, ['kernel.request refusing sent'], url)
    t.same(outcomes, ['refusing threw'], 'the handler did not run')
    t.match(page, 'Interrupted by refusing with Error: sent')
    t.match(page, '<tr class="error">')
    t.match(markdown, /onRequest, preParsing kernel\\?.request at [\\<\d.]+ ms, hooks took [\\<\d.]+ ms interrupted \|/)
    t.match(markdown, /preHandler kernel\\?.controller Not reached \|/)
  }
})

t.test('Fastify itself interrupts kernel.response if the payload cannot be serialised', async t => {
  const app = await profiledApp(t)
  app.addHook('preHandler', async function before() {})
  app.addHook('onSend', async function sending() {})
  app.get('/', async function answering() {
    return { value: 1n }
  })
  const { interruptions, outcomes, page } = await lifecycleOf(app, '/')
  t.match(interruptions, [/^kernel\.response Fastify .*BigInt/])
  t.same(outcomes, ['before continued', 'answering replied', 'sending continued'])
  t.match(page, 'Interrupted by Fastify itself with TypeError')
})

t.test('a handler that times out has not replied', async t => {
  const app = await profiledApp(t)
  app.addHook('preHandler', async function before() {})
  app.get('/', { handlerTimeout: 10 }, async function slow() {
    await new Promise(() => {})
  })
  const { interruptions, outcomes, profile } = await lifecycleOf(app, '/')
  t.equal(profile.status, 503)
  t.same(interruptions, [])
  t.same(outcomes, ['before continued', 'slow unfinished'])
  t.match(profile.exceptions, [{ code: 'FST_ERR_HANDLER_TIMEOUT', spans: [1] }])
})

t.test('a body that Fastify cannot parse interrupts kernel.controller, which is shown as reached', async t => {
  const app = await profiledApp(t)
  app.addHook('onRequest', async function first() {})
  app.addHook('preHandler', async function before() {})
  app.addContentTypeParser('text/odd', (_request, _payload, done) => {
    done(new Error('odd'))
  })
  app.post('/', { bodyLimit: 10 }, handler)
  for (const [type, payload, status, said] of [
    ['application/json', '{', 400, 'Body is not valid JSON'],
    ['application/json', '{"a":"long enough"}', 413, 'Request body is too large'],
    ['museum/picture', 'x', 415, 'Unsupported Media Type'],
    ['text/odd', 'x', 500, 'odd'],
  ] as const) {
    const request = { method: 'POST', url: '/', headers: { 'content-type': type }, payload } as const
    const { markdown, page, profile } = await lifecycleOf(app, request)
    t.equal(profile.status, status)
    const [first, controller, ...others] = profile.lifecycle
    t.strictSame(controller?.interrupted, { span: null, exception: 0 }, type)
    t.ok(controller?.start != null && first?.start != null && controller.start >= first.start)
    t.equal(others[0]?.start, null, 'no later dispatch point was reached')
    const found = [first, ...others].map(point => point?.interrupted)
    t.strictSame(found, [null, null, null, null])
    const interrupted = 'Interrupted by Fastify itself with \\w+'
    for (const text of [page, markdown]) {
      t.match(text, new RegExp(`${interrupted}: ${said}`))
      t.match(text, /kernel\\?\.controller(?!_).*\binterrupted\b/)
      t.equal(text.match(/Not reached/g)?.length, 1, 'only kernel.controller_arguments was not reached')
    }
  }
})

t.test('each exception belongs to the span that threw it, even if a cause is rethrown', async t => {
  const app = await profiledApp(t)
  const cause = new Error('B')
  app.setErrorHandler(async function rethrowing() {
    throw cause
  })
  app.addHook('onSend', async function badSend() {
    throw new Error('C')
  })
  app.get('/', async function failing() {
    throw new Error('A', { cause })
  })
  const { interruptions, outcomes, profile, page } = await lifecycleOf(app, '/')
  const found = profile.exceptions.map(({ message, relation, spans }) => [message, relation, spans])
  t.same(found, [
    ['A', 'thrown', [0]],
    ['B', 'cause', [1]],
    ['C', 'thrown', [2]],
  ])
  t.same(interruptions, ['kernel.response badSend C'])
  t.same(outcomes, ['failing threw', 'rethrowing threw', 'badSend threw'])
  t.match(page, 'Interrupted by badSend with Error: C')
})

t.test('each error handler that ran is named with the error it was given', async t => {
  const app = await profiledApp(t)
  app.setErrorHandler(async function outer(error, _request, reply) {
    return reply.code(500).send({ error: String(error) })
  })
  app.register(async function inner(scope) {
    scope.addHook('onError', async function watching() {})
    scope.setErrorHandler(function passing(error, _request, reply) {
      reply.send(error)
    })
    scope.get('/', async function failing() {
      throw new Error('odd | one')
    })
  })
  const { markdown, profile, page } = await lifecycleOf(app, '/')
  t.match(profile.exceptions, [{ message: 'odd | one', spans: [0], handlers: [1, 2, 3] }])
  t.match(page, /passing <small>error handler · plugin inner/)
  t.match(page, /watching <small>onError/)
  t.match(markdown, /\| outer .* Error: odd \\\| one \|/)
})

t.test('an error that the application handled interrupts nothing, and a hook that replies has replied', async t => {
  const app = await profiledApp(t)
  app.get('/', {
    preHandler: async function refusing({ recorder }, reply) {
      recorder?.exception(new Error('handled'))
      return reply.code(403).send('no')
    },
    handler,
  })
  app.get('/late', async function failing({ recorder }) {
    const error = new Error('first handled, then thrown')
    recorder?.exception(error)
    throw error
  })
  const { interruptions, page } = await lifecycleOf(app, '/')
  t.same(interruptions, ['kernel.controller_arguments refusing answer'])
  t.match(page, 'Interrupted by refusing with a response')
  t.same((await lifecycleOf(app, '/late')).profile.exceptions[0]?.spans, [0])
})

t.test('an exception that was left out is still shown as the interruption, and so is its listener', async t => {
  const app = await profiledApp(t, { profileBounds: { exceptions: 2 } })
  app.get('/', {
    onRequest: function refusing({ recorder }, _reply, done) {
      recorder?.exception(new Error('first', { cause: new Error('cause') }))
      done(new Error('second'))
    },
    handler,
  })
  app.get('/sent', {
    errorHandler: function mending(_error, _request, reply) {
      reply.send('mended')
    },
    handler: async function failing({ recorder }) {
      for (const message of ['first', 'second']) recorder?.exception(new Error(message))
      return { value: 1n }
    },
  })
  const { page } = await lifecycleOf(app, '/')
  t.match(page, 'Interrupted by refusing with an error that was not recorded')
  const sent = await lifecycleOf(app, '/sent')
  t.match(sent.profile.dropped, [{ what: 'exceptions', count: 1 }])
  t.match(sent.page, /mending <small>error handler/)
})
