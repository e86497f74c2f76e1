import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import pino, { type DestinationStream } from 'pino'
import t from 'tap'
import { currentRecorder, profiledLogger, recordedLogger } from '../index.ts'
import { linesOf } from './drivers/driver-app.ts'
import { makeFolder } from './folder.ts'
import { keptLines, onlyProfile, pageOf, plainApp, profiledApp, profileOf, turns } from './profiled-app.ts'

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const
const everyLine = ['incoming request', ...levels, 'request completed']

const logEveryLevel = async ({ log }: FastifyRequest) => {
  for (const level of levels) log[level](level)
  return 'ok'
}

/** The messages and the notes in the profile of a request. */
async function recordedOf(app: FastifyInstance, url = '/'): Promise<{ messages: string[]; notes: string[] }> {
  const { logs, notes } = await profileOf(app, url)
  return { messages: logs.map(({ message }) => message), notes }
}

const loggers: Record<string, [options: (stream: DestinationStream) => object, printed: string[]]> = {
  'made by profiledLogger()': [
    stream => ({ logger: profiledLogger({ level: 'warn', stream }) }),
    ['warn', 'error', 'fatal', 'of a child'],
  ],
  "that is the application's own": [
    stream => ({ loggerInstance: pino({ level: 'warn' }, stream) }),
    ['warn', 'error', 'fatal', 'of a child'],
  ],
  'of another copy of pino': [
    stream => ({ loggerInstance: copyOfPino()({ level: 'warn' }, stream) }),
    ['warn', 'error', 'fatal', 'of a child'],
  ],
  'with several streams': [
    stream => ({ loggerInstance: pino({ level: 'info' }, pino.multistream([{ level: 'error', stream }])) }),
    ['error', 'fatal'],
  ],
  'made by recordedLogger()': [
    stream => {
      const recorded = recordedLogger('error', stream)
      return { loggerInstance: pino({ level: recorded.level }, recorded.stream) }
    },
    ['error', 'fatal'],
  ],
  'made by profiledLogger() for none': [() => ({ logger: profiledLogger(false) }), []],
}

for (const [name, [options, printed]] of Object.entries(loggers)) {
  t.test(`lines of every level of a logger ${name} are recorded, and its output keeps its own level`, async t => {
    const { messages, stream } = keptLines('')
    const app = await plainApp(t, options(stream))
    app.setChildLoggerFactory((logger, bindings, options) => logger.child({ ...bindings, mine: true }, options))
    app.get('/', async request => {
      await logEveryLevel(request)
      request.log.child({ part: 'child' }).warn('of a child')
      request.log.info({ only: 'fields' })
      return currentRecorder()?.token
    })
    const { body } = await app.inject('/')
    const { logs, notes, token } = await onlyProfile(t, app, '/')
    t.equal(body, token)
    const found = logs.map(({ message }) => message)
    t.same(found, ['incoming request', ...levels, 'of a child', '', 'request completed'])
    t.match(logs[7]?.fields, { part: 'child', mine: true })
    t.same(messages, printed)
    t.same(notes, [])
  })
}

/** Pino loaded once more, as npm installs it twice where two packages want other versions. */
function copyOfPino(): typeof pino {
  const require = createRequire(import.meta.url)
  const folder = dirname(require.resolve('pino'))
  for (const file of Object.keys(require.cache)) if (file.startsWith(folder)) delete require.cache[file]
  return require('pino')
}

for (const [level, printed] of [
  ['silent', []],
  ['error', ['error', 'fatal']],
  ['debug', everyLine.filter(line => line !== 'trace')],
] as const) {
  t.test(`with logLevel ${level}, a profile has every line, and the output the level of its route`, async t => {
    const { logger, messages } = keptLines('info')
    const app = await profiledApp(t, {}, { logger })
    app.get('/route', { logLevel: level }, logEveryLevel)
    const plugin = async (scope: FastifyInstance) => {
      scope.get('/plugin', logEveryLevel)
    }
    app.register(plugin, { logLevel: level })
    for (const url of ['/route', '/plugin']) {
      messages.length = 0
      t.same(await recordedOf(app, url), { messages: everyLine, notes: [] })
      t.same(messages, printed)
    }
  })
}

t.test('a warning and an error have the line that logged them, also through child loggers and helpers', async t => {
  const app = await profiledApp(t)
  app.get('/', async request => {
    request.log.info('told')
    request.log.warn('sold out') // warned here
    await turns()
    request.log.child({ part: 'child' }).error('broken') // failed here
    throw new Error('thrown')
  })
  const { logs } = await profileOf(app, '/')
  const lineOf = linesOf(import.meta.filename)
  const found = logs.map(({ message, location }) => [message, location?.line])
  t.strictSame(found, [
    ['incoming request', undefined],
    ['told', undefined],
    ['sold out', lineOf('warned here')],
    ['broken', lineOf('failed here')],
    ['thrown', undefined],
    ['request completed', undefined],
  ])
})

t.test('a hundred concurrent requests each have their own lines, even with the same request id', async t => {
  const app = await profiledApp(t, {}, { requestIdHeader: 'x-request-id' })
  // Each continues after another number of turns, so that they overtake each other.
  app.addHook<{ Params: { id: string } }>('preHandler', async function wait({ params }) {
    await turns((Number(params.id) * 7) % 11)
  })
  app.get<{ Params: { id: string } }>('/:id', async ({ params, log }) => {
    log.debug(`first of ${params.id}`)
    await turns((Number(params.id) * 5) % 13)
    log.info(`second of ${params.id}`)
    app.log.info(`through the application, of ${params.id}`)
    return 'ok'
  })
  const ids = Array.from({ length: 100 }, (_, index) => String(1000 + index))
  await Promise.all(ids.map(id => app.inject({ url: `/${id}`, headers: { 'x-request-id': 'the same' } })))
  for (const id of ids) {
    const { logs } = await onlyProfile(t, app, `/${id}`)
    const found = logs.map(({ message }) => message)
    t.same(found, [
      'incoming request',
      `first of ${id}`,
      `second of ${id}`,
      `through the application, of ${id}`,
      'request completed',
    ])
  }
})

t.test('a line that is not JSON is kept as text, and lines beyond the bound are counted', async t => {
  const app = await profiledApp(t, { profileBounds: { logs: 3 } })
  app.get('/', async request => {
    request.recorder?.line('not JSON')
    request.recorder?.line('"only text"')
    for (let line = 0; line < 100; line++) request.log.info('more')
    return 'ok'
  })
  const { logs, dropped } = await profileOf(app, '/')
  const found = logs.map(({ message }) => message)
  t.same(found, ['incoming request', 'not JSON', '"only text"'])
  t.match(dropped, [{ what: 'logs', count: 101, why: 'A profile holds 3 log lines.' }])
})

t.test('a logged stack has two frames of the profiler, which no view shows', async t => {
  const app = await profiledApp(t)
  app.get('/', async function failing({ log }) {
    log.error(new Error('logged'), 'It failed')
    log.info({ nested: [{ stack: new Error('nested').stack, count: 1 }], none: null })
    return 'ok'
  })
  const profile = await profileOf(app, '/')
  const machinery = /traced-call|recorders|AsyncLocalStorage/g
  t.equal(JSON.stringify(profile.logs).match(machinery)?.length, 4)
  for (const accept of ['application/json', 'text/html', 'text/markdown']) {
    const page = await pageOf(app, `${profile.token}?panel=logs`, accept)
    t.match(page, /logs\.test.*preHandlerCallback/s)
    t.notMatch(page, machinery)
  }
})

t.test('a frame of the profiler in a folder whose name has spaces is not shown either', async t => {
  const app = await profiledApp(t)
  const own = join(
    dirname(fileURLToPath(import.meta.resolve('fastify-profiler/package.json'))),
    'my (old) copy',
    'a.js',
  )
  const frames = [`call [as run] (${own}:1:2)`, `async call (${own}:1:2)`, `${own}:1:2`, `async ${own}:1:2`]
  const stack = ['Error: logged', ...[...frames, 'kept (/my app/b.js:3:4)'].map(frame => `    at ${frame}`)].join('\n')
  app.get('/', async ({ log }) => log.info({ stack }))
  const page = await pageOf(app, `${(await profileOf(app, '/')).token}?panel=logs`, 'text/markdown')
  t.match(page, '/my app/b.js')
  t.notMatch(page, 'old')
})

t.test('an error that a line of level error has as err or error is an exception of the request', async t => {
  const app = await profiledApp(t)
  app.get('/', async ({ log }) => {
    log.error({ err: new Error('one') }, 'It failed')
    log.error({ error: new Error('two') }, 'It failed')
    log.warn({ error: new Error('three') }, 'It nearly failed')
  })
  const { exceptions } = await profileOf(app, '/')
  t.same(exceptions.map(({ message }) => message).toSorted(), ['one', 'two'])
})

t.test('a logged stack from another machine is shown unchanged', async t => {
  const app = await profiledApp(t)
  const stack = 'Error: foreign\n    at run (file://elsewhere/app.js:1:2)\n    at file:///%00:1:2'
  app.get('/', async ({ log }) => {
    log.info({ stack })
  })
  const { token } = await profileOf(app, '/')
  t.match(await pageOf(app, `${token}?panel=logs`, 'application/json'), JSON.stringify(stack).slice(1, -1))
})

t.test("pino's own options are kept, and lines written past pino pass", async t => {
  const { level, redact } = profiledLogger({ file: `${makeFolder()}/log`, redact: ['password'] })
  t.same([level, redact], ['trace', ['password']])
  const lines: string[] = []
  recordedLogger('silent', { write: (line: string) => lines.push(line) }).stream.write('past pino')
  t.same(lines, ['past pino'])
})

t.test('a logger other than pino is left alone, and the profile says why it has no lines', async t => {
  const lines: string[] = []
  const log = (_fields: unknown, message?: string) => lines.push(String(message))
  const methods = { info: log, warn: log, error: log, fatal: log, debug: log, trace: log, silent: log }
  const child = (): FastifyBaseLogger => ({ level: 'info', ...methods, child })
  const app = await plainApp(t, { loggerInstance: child() })
  app.get('/', async () => 'ok')
  t.match(await recordedOf(app), { messages: { length: 0 }, notes: [/logger is not pino/] })
  t.ok(lines.includes('incoming request'))
})

t.test("lines of another logger's children are recorded, and its output stays the same", async t => {
  const { messages, stream } = keptLines('')
  const other = pino({ level: 'debug' }, stream)
  const app = await profiledApp(t)
  app.setChildLoggerFactory((_logger, bindings, options) => other.child(bindings, options))
  app.get('/', { logLevel: 'warn' }, logEveryLevel)
  t.same((await recordedOf(app)).messages, everyLine)
  t.same(messages, ['warn', 'error', 'fatal'])
})

t.test('two applications with one logger each record their lines, and fatal lines are flushed at once', async t => {
  const { messages, stream } = keptLines('')
  let flushed = 0
  const flushable = { ...stream, flushSync: () => flushed++ }
  const loggerInstance = pino({ level: 'info' }, flushable)
  for (const app of [await plainApp(t, { loggerInstance }), await plainApp(t, { loggerInstance })]) {
    app.get('/', { logLevel: 'fatal' }, async ({ log }) => {
      app.log.info('through the application')
      app.log.child({ part: 'child' }).warn('through its child')
      log.warn('hidden')
      log.fatal('bad')
      return 'ok'
    })
    messages.length = 0
    const printed = ['through the application', 'through its child', 'bad']
    const recorded = [...printed.slice(0, 2), 'hidden', 'bad']
    t.same(await recordedOf(app), { messages: ['incoming request', ...recorded, 'request completed'], notes: [] })
    t.same(messages, printed)
  }
  t.equal(flushed, 2)
})

t.test(
  'a pino logger with its own comparison of levels stays as it is, and the profile says what it lacks',
  async t => {
    const levelComparison = (level: number, wanted: number) => level === wanted
    const app = await plainApp(t, { loggerInstance: pino({ level: 'info', levelComparison }, { write() {} }) })
    app.get('/', async ({ log }) => {
      log.debug('hidden')
      return 'ok'
    })
    t.match(await recordedOf(app), {
      messages: ['incoming request', 'request completed'],
      notes: [/^Log lines below the logger's level \(info\)/],
    })
  },
)

t.test('the level of a logger is what the application sets, whenever it does', async t => {
  const { messages, stream } = keptLines('')
  const root = pino({ level: 'warn' }, stream)
  const before = root.child({}, { level: 'debug' })
  const app = await plainApp(t, { loggerInstance: root })
  const changes: unknown[] = []
  root.on('level-change', (...change) => changes.push(change))
  app.get('/', async ({ log }) => {
    before.trace('a child from before, unwanted')
    before.debug('a child from before')
    const child = log.child({}, { level: 'info' })
    child.debug('a child, unwanted')
    child.info('a child')
    root.level = 'error'
    log.warn('unwanted')
    root.warn('unwanted, too')
    return [before.levelVal, child.level, root.levelVal, root.level, log.level]
  })
  t.same((await app.inject('/')).json(), [20, 'info', 50, 'error', 'error'])
  t.same(messages, ['a child from before', 'a child'])
  t.match(changes.at(-1), ['error', 50, 'warn', 40])
  t.throws(() => {
    root.level = 'none'
  }, /unknown level none/)
  t.equal(root.level, 'error')
  t.equal((await onlyProfile(t, app, '/')).logs.length, 7)
})

t.test("an application can flush its logger's stream, if that can be flushed", async t => {
  let flushed = 0
  const write = () => {}
  const flush = (done: () => void) => {
    flushed++
    done()
  }
  for (const stream of [{ write, flush }, { write }, profiledLogger(false).stream]) {
    const logger = pino({}, stream)
    await plainApp(t, { loggerInstance: logger })
    await new Promise(resolve => logger.flush(resolve))
  }
  t.equal(flushed, 1)
})
