import { EventEmitter, once } from 'node:events'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { graphqlDriver } from '../features/exceptions/caught-elsewhere.ts'
import { linesOf } from './drivers/driver-app.ts'
import { makeFolder } from './folder.ts'
import { pageOf, profiledApp } from './profiled-app.ts'

// Stands in for libraries that catch the errors of an application's functions: GraphQL, tRPC and Nest.

class GraphQLError extends Error {
  declare path: string[]
  declare originalError: unknown
  constructor(path: string[], originalError: unknown) {
    super('located')
    this.path = path
    this.originalError = originalError
  }
}
graphqlDriver.patch?.({ GraphQLError })

const core = {
  exceptions: {
    'exceptions-handler.js': 'exports.ExceptionsHandler = class { next(error) { return error } }',
  },
  interceptors: {
    'interceptors-consumer.js': 'exports.InterceptorsConsumer = class { intercept(...args) { return args[4]() } }',
  },
  router: {
    'router-explorer.js': `exports.RouterExplorer = class {
      applyCallbackToRouter(app, { path, targetCallback }) { app.get(path, () => targetCallback()) }
    }`,
  },
  guards: { 'guards-consumer.js': 'exports.GuardsConsumer = class { tryActivate() { return true } }' },
}
const root = makeFolder({
  'package.json': '{ "dependencies": { "@nestjs/platform-fastify": "*" } }',
  node_modules: { '@nestjs': { core } },
})

/** Calls a method of a class of Nest. */
function call(file: string, name: string, method: string, ...args: unknown[]): unknown {
  const { [name]: Made } = createRequire(join(root, 'package.json'))(`@nestjs/core/${file}.js`)
  return new Made()[method](...args)
}

const filter = (error: unknown) => call('exceptions/exceptions-handler', 'ExceptionsHandler', 'next', error)
const guard = (guards: unknown[]) => call('guards/guards-consumer', 'GuardsConsumer', 'tryActivate', guards)
const control = (controller: unknown, method: unknown, next: () => unknown) =>
  call('interceptors/interceptors-consumer', 'InterceptorsConsumer', 'intercept', [], [], controller, method, next)

/** Options of tRPC, as a class makes them. */
class Options {
  readonly #said = 'tRPC'
  readonly told: unknown[] = []
  says() {
    return this.#said
  }
  onError(told: unknown) {
    this.told.push(told)
    return this.says()
  }
}

/** Registers what stands in for tRPC's plugin. @returns the options that it gets */
async function registerTrpc(app: FastifyInstance, trpcOptions: object): Promise<Options> {
  let found: unknown
  await app.register(
    async function fastifyTRPCPlugin(_app: FastifyInstance, options: { trpcOptions: object }) {
      found = options.trpcOptions
    },
    { trpcOptions },
  )
  return found as Options
}

/** Ways to tell of an error that a library has caught. */
const libraries: Record<string, (app: FastifyInstance) => Promise<(error: unknown) => unknown>> = {
  GraphQL: async app => error => app.log.error(new GraphQLError(['order'], error)),
  tRPC: async app => {
    const options = await registerTrpc(app, new Options())
    return error => options.onError({ error })
  },
  Nest: async () => filter,
}

async function watchedApp(t: Test) {
  const app = await profiledApp(t, { patience: 10, root })
  const profileOf = async (url: string) => {
    const { headers } = await app.inject(url)
    await app.profiler.settled()
    return { token: String(headers['x-debug-token']) }
  }
  return { app, profileOf }
}

for (const [name, open] of Object.entries(libraries)) {
  t.test(`an error that ${name} catches is the request's, also after the response`, async t => {
    const { app, profileOf } = await watchedApp(t)
    const tell = await open(app)
    const answers = new EventEmitter()
    app.get('/caught', async () => {
      tell(new Error('caught at once'))
      void once(answers, 'stored').then(() => tell(new Error('caught late')))
    })
    const { token } = await profileOf('/caught')
    const messages = async () => (await app.profiler.find(token))?.exceptions.map(({ message }) => message)
    t.strictSame(await messages(), ['caught at once'])
    answers.emit('stored')
    while ((await messages())?.length === 1) await new Promise(resolve => setTimeout(resolve, 20))
    t.strictSame(await messages(), ['caught at once', 'caught late'])
  })
}

t.test('a 500 of Nest has the error that led to it, not a 422 before, and nothing of error handlers', async t => {
  const { app, profileOf } = await watchedApp(t)
  app.get('/', async (_request, reply) => {
    filter(Object.assign(new Error('no text'), { statusCode: 422 }))
    filter(new Error('no filter'))
    return reply.code(500).send()
  })
  const { token } = await profileOf('/')
  const { profiles } = await app.profiler.search({ token })
  t.match(profiles, [{ exception: 'Error: no filter', troubles: [{ detail: 'Error: no filter' }] }])
  t.notMatch(await pageOf(app, `${token}?panel=lifecycle`), 'error handler')
  t.match(await pageOf(app, `${token}?panel=exception`), /<section id="exception-2"/)
})

t.test("an error of Nest's validation is told with the first of its reasons, and how many more there are", async t => {
  const { app, profileOf } = await watchedApp(t)
  let message: unknown
  app.get('/', async () => {
    filter(Object.assign(new Error('Bad Request Exception'), { response: { message } }))
  })
  for (const [reasons, said] of [
    [['name must be a string', 'age must be positive'], ': name must be a string (and 1 more)'],
    [['name must be a string'], ': name must be a string'],
    [[{ property: 'name' }], ''],
    ['Bad Request Exception', ''],
  ] as const) {
    message = reasons
    const { profiles } = await app.profiler.search(await profileOf('/'))
    t.strictSame(profiles[0]?.exception, `Error: Bad Request Exception${said}`)
  }
})

const broken = new Proxy(() => {}, {
  get() {
    throw new Error('unreadable')
  },
})

t.test('what the profiler cannot read changes nothing about the call of a library', async t => {
  const { app, profileOf } = await watchedApp(t)
  const trpc = await registerTrpc(app, new Options())
  const unreadable = Object.defineProperty({}, 'trpcOptions', { get: () => broken.name })
  await app.register(async function fastifyTRPCPlugin() {}, unreadable)
  const called: unknown[] = []
  app.get('/', async () => {
    called.push(new GraphQLError([], broken).originalError, trpc.onError(broken), trpc.told[0])
    called.push(
      filter(broken),
      guard([broken]),
      control(broken, broken, () => broken),
    )
  })
  await profileOf('/')
  t.strictSame(called, [broken, 'tRPC', broken, broken, true, broken])
})

t.test("tRPC gets the application's own options, and each error once if they are registered twice", async t => {
  const { app, profileOf } = await watchedApp(t)
  const options = new Options()
  t.equal(await registerTrpc(app, options), options)
  t.equal(await registerTrpc(app, options), options)
  app.get('/', async () => options.onError({ error: new Error('caught') }))
  const { token } = await profileOf('/')
  t.match(await app.profiler.find(token), { exceptions: [{ message: 'caught' }] })
  t.equal(options.told.length, 1)
})

t.test('a query that a controller of Nest returns unsent is not sent by the profiler', async t => {
  const { app, profileOf } = await watchedApp(t)
  let sent = 0
  const query = Object.create({
    get then() {
      sent++
      return undefined
    },
  })
  const results: unknown[] = []
  app.get('/', async () => {
    results.push(
      control(
        new Options(),
        () => {},
        () => query,
      ),
    )
  })
  await profileOf('/')
  t.equal(results[0], query)
  t.equal(sent, 0)
})

t.test('a route of Nest is defined in its controller, and others where they are registered', async t => {
  const { app, profileOf } = await watchedApp(t)
  const targetCallback = () => 'found' // finds an order
  call('router/router-explorer', 'RouterExplorer', 'applyCallbackToRouter', app, { path: '/orders', targetCallback })
  app.get('/', async () => 'home') // goes home
  const lineOf = linesOf(import.meta.filename)
  for (const [path, comment] of [
    ['/orders', 'finds an order'],
    ['/', 'goes home'],
  ] as const) {
    const { token } = await profileOf(path)
    t.match((await app.profiler.find(token))?.routing.matched?.location, {
      file: /caught-errors\.test\.ts$/,
      line: lineOf(comment),
    })
  }
})
