import t from 'tap'
import { html } from '../index.ts'
import { onlyProfile, profiledApp } from './profiled-app.ts'

const throwing = {
  enumerable: true,
  configurable: true,
  get() {
    throw new Error('getter')
  },
}

/** An error with a property whose getter throws. */
function failingAt(key: string): Error {
  return Object.defineProperty(new Error('odd'), key, throwing)
}

function withProperty(value: unknown): Error {
  return Object.assign(new Error('odd'), { held: value })
}

class Named {}
Object.defineProperty(Named, 'name', { value: Symbol('class') })

const errors: Record<string, { thrown: unknown; expected: object }> = {
  property: {
    thrown: failingAt('x'),
    expected: { class: 'Error', message: 'odd', properties: { x: '[getter threw]' } },
  },
  code: { thrown: failingAt('code'), expected: { message: 'odd', code: '[getter threw]' } },
  message: { thrown: failingAt('message'), expected: { message: '[getter threw]' } },
  stack: { thrown: failingAt('stack'), expected: { message: 'odd', frames: [] } },
  cause: { thrown: failingAt('cause'), expected: { message: 'odd' } },
  name: { thrown: failingAt('name'), expected: { class: 'Error' } },
  constructor: { thrown: failingAt('constructor'), expected: { class: 'Error' } },
  status: { thrown: failingAt('status'), expected: { statusCode: null } },
  symbol: {
    thrown: Object.assign(new Error(), { message: Symbol('message') }),
    expected: { message: 'Symbol(message)' },
  },
  null: { thrown: Object.assign(new Error(), { message: Object.create(null) }), expected: { message: '[no text]' } },
  members: {
    thrown: Object.defineProperty(new AggregateError([], 'odd'), 'errors', throwing),
    expected: { class: 'AggregateError' },
  },
  'error-inside': {
    thrown: withProperty(failingAt('message')),
    expected: { properties: { held: 'Error: [getter threw]' } },
  },
  'proxy-inside': {
    thrown: withProperty(
      new Proxy(
        {},
        {
          ownKeys() {
            throw new Error('keys')
          },
        },
      ),
    ),
    expected: { properties: { held: '[unreadable]' } },
  },
  'class-inside': {
    thrown: withProperty([new Named(), Named]),
    expected: { properties: { held: [{}, '[function Symbol(class)]'] } },
  },
  'date-inside': {
    thrown: withProperty(Object.create(Date.prototype)),
    expected: { properties: { held: '[unreadable]' } },
  },
  'class-symbol': { thrown: Object.assign(new Error('odd'), { constructor: Named }), expected: { class: 'Error' } },
}

t.test('an error is profiled whichever of its getters throws', async t => {
  const app = await profiledApp(t)
  app.get<{ Params: { kind: string } }>('/:kind', async ({ params }) => {
    throw errors[params.kind]?.thrown
  })
  for (const [kind, { expected }] of Object.entries(errors)) {
    const answer = await app.inject({ url: `/${kind}`, headers: { accept: 'text/html' } })
    const profile = await onlyProfile(t, app, `/${kind}`)
    // Fastify answers an error with an unreadable status with 200.
    if (answer.statusCode >= 400) {
      t.match(answer.headers['content-type'], 'text/html', `${kind}: a browser gets the error page`)
    }
    t.equal(answer.headers['x-debug-token'], profile.token)
    t.match(profile.exceptions[0], expected, kind)
    t.same(profile.notes, [])
    t.equal((await app.inject(`/_profiler/${profile.token}`)).statusCode, 200)
  }
})

t.test('an error that is a proxy whose traps all throw is profiled', async t => {
  const app = await profiledApp(t)
  const refuse = () => {
    throw new Error('trap')
  }
  const hostile = new Proxy(new Error('odd'), {
    ownKeys: refuse,
    getOwnPropertyDescriptor: refuse,
    get: refuse,
    getPrototypeOf: refuse,
    has: refuse,
  })
  app.get('/handled', async ({ recorder }) => {
    recorder?.exception(hostile)
    return 'ok'
  })
  app.get('/thrown', (_request, reply) => {
    reply.code(500)
    // Fastify itself only reads the type and the message of an error.
    throw new Proxy(new Error('odd'), {
      ownKeys: refuse,
      get: (target, key) => (key === 'message' || key === 'then' ? Reflect.get(target, key) : refuse()),
    })
  })
  await app.inject('/handled')
  t.match((await onlyProfile(t, app, '/handled')).exceptions, [{ class: 'object', message: '"[unreadable]"' }])
  await app.inject('/thrown')
  t.match((await onlyProfile(t, app, '/thrown')).exceptions[0], { class: 'Error', message: 'odd', frames: [] })
})

t.test('a request with unreadable properties is profiled without them', async t => {
  const app = await profiledApp(t, {
    toError: thrown => {
      throw thrown
    },
  })
  app.get('/getters', async request => {
    for (const key of ['body', 'params', 'query', 'ip', 'protocol']) Object.defineProperty(request, key, throwing)
    Reflect.set(request, 'id', Object.create(null))
    throw new Error('thrown')
  })
  t.equal((await app.inject('/getters')).statusCode, 500)
  t.match(await onlyProfile(t, app, '/getters'), {
    status: 500,
    protocol: 'http',
    requestId: '[no text]',
    request: { body: '[getter threw]', params: {} },
    exceptions: [{ message: 'thrown' }],
  })
})

t.test('a profile whose collection fails keeps the basic facts of the request, with a note', async t => {
  const app = await profiledApp(t, {
    panels: [
      {
        name: 'cyclic',
        label: 'Cyclic',
        collect: ({ profile }) => {
          if (profile.path === '/cyclic') Reflect.set(profile.labels, 'self', profile)
          return null
        },
        body: () => html``,
      },
    ],
  })
  app.get('/cyclic', async () => 'ok')
  app.get<{ Params: { id: string } }>('/detail/:id', async ({ params, recorder, log }) => {
    log.info('a line')
    const span = recorder?.span({ kind: 'query', name: 'select' })
    if (span !== undefined) {
      Reflect.apply(span.end, span, [
        'continued',
        { detail: params.id === '5' ? { length: 10 } : { length: 10, charCodeAt } },
      ])
    }
    throw new Error('thrown')
  })
  await app.inject('/cyclic')
  t.match(await onlyProfile(t, app, '/cyclic'), {
    status: 200,
    outcome: 'completed',
    notes: [/could not read all of this request \(TypeError\)/],
  })
  const answer = await app.inject({ url: '/detail/5', headers: { accept: 'text/html' } })
  t.equal(answer.statusCode, 500)
  const profile = await onlyProfile(t, app, '/detail/5')
  t.match(profile, {
    status: 500,
    exceptions: [],
    logs: [],
    spans: [],
    routing: { matched: { url: '/detail/:id', params: {} } },
  })
  t.equal(profile.notes.length, 1)
  await app.inject('/detail/6')
  t.match((await onlyProfile(t, app, '/detail/6')).notes, [/could not read all of this request \(string\)/])
})

function charCodeAt(): never {
  throw String('no error')
}

t.test('any value that a panel throws is noted', async t => {
  const thrown: unknown[] = [Object.create(null), 5n]
  const app = await profiledApp(t, {
    panels: thrown.map((value, index) => ({
      name: `odd${index}`,
      label: 'Odd',
      collect() {
        throw value
      },
      body: () => html``,
    })),
  })
  app.get('/', async () => 'ok')
  await app.inject('/')
  t.same((await onlyProfile(t, app, '/')).notes, [
    'The panel "odd0" failed to collect: [no text]',
    'The panel "odd1" failed to collect: 5',
  ])
})

t.test('a hook whose name is no text is traced under what its name says', async t => {
  const app = await profiledApp(t)
  const hook = async () => {}
  Object.defineProperty(hook, 'name', { value: 42 })
  app.addHook('preHandler', hook)
  app.get('/', async () => 'fine')
  t.equal((await app.inject('/')).body, 'fine')
  const { spans } = await onlyProfile(t, app, '/')
  t.match(
    spans.map(({ name }) => name),
    ['42'],
  )
})
