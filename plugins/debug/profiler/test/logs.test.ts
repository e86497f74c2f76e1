import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify, { type FastifyBaseLogger, type FastifyRequest, type FastifyServerOptions } from 'fastify'
import pino from 'pino'
import t from 'tap'
import profiler, { currentRecorder, profiledLogger, recordedLogger } from '../index.ts'
import { linesOf } from './drivers/driver-app.ts'
import { makeFolder } from './folder.ts'
import { onlyProfile, profiledApp } from './profiled-app.ts'

t.test('lines of every level are in the profile, and the output keeps its own level', async t => {
  const lines: string[] = []
  const app = Fastify({
    logger: profiledLogger({
      level: 'warn',
      stream: {
        write(line: string) {
          lines.push(line)
        },
      },
    }),
  })
  t.teardown(() => app.close())
  await app.register(profiler, { directory: makeFolder(t) })
  app.get('/', async request => {
    for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const) {
      request.log[level]({ level }, level)
    }
    request.log.child({ part: 'child' }).debug('of a child')
    request.log.info({ only: 'fields' })
    return 'ok'
  })
  await app.inject('/')
  const { logs } = await onlyProfile(t, app, '/')
  t.same(
    logs.map(({ message }) => message),
    ['incoming request', 'trace', 'debug', 'info', 'warn', 'error', 'fatal', 'of a child', '', 'request completed'],
  )
  t.same(logs.find(({ message }) => message === 'of a child')?.fields.part, 'child')
  t.equal(lines.length, 3)
})

t.test('a warning and an error have the line that logged them, also through child loggers and helpers', async t => {
  const app = await profiledApp(t)
  app.get('/', async request => {
    request.log.info('told')
    request.log.warn('sold out') // warned here
    await sleep(1)
    request.log.child({ part: 'child' }).error('broken') // failed here
    throw new Error('thrown')
  })
  await app.inject('/')
  const { logs } = await onlyProfile(t, app, '/')
  const lineOf = linesOf(import.meta.filename)
  t.strictSame(
    logs.map(({ message, location }) => [message, location?.line]),
    [
      ['incoming request', undefined],
      ['told', undefined],
      ['sold out', lineOf('warned here')],
      ['broken', lineOf('failed here')],
      ['thrown', undefined],
      ['request completed', undefined],
    ],
  )
})

t.test('a hundred concurrent requests each have their own lines, even with the same request id', async t => {
  const app = await profiledApp(t, {}, { requestIdHeader: 'x-request-id' })
  app.addHook('preHandler', async function wait() {
    await sleep(Math.random() * 5)
  })
  app.get<{ Params: { id: string } }>('/:id', async ({ params, log }) => {
    log.debug(`first of ${params.id}`)
    await sleep(Math.random() * 10)
    log.info(`second of ${params.id}`)
    app.log.info(`through the application, of ${params.id}`)
    return 'ok'
  })
  const ids = Array.from({ length: 100 }, (_, index) => `request-${index}-`)
  await Promise.all(ids.map(id => app.inject({ url: `/${id}`, headers: { 'x-request-id': 'the same' } })))
  for (const id of ids) {
    const { logs } = await onlyProfile(t, app, `/${id}`)
    t.same(
      logs.map(({ message }) => message),
      [
        'incoming request',
        `first of ${id}`,
        `second of ${id}`,
        `through the application, of ${id}`,
        'request completed',
      ],
    )
  }
})

t.test("the application's own logger and child logger factory are recorded", async t => {
  const { level, stream } = recordedLogger('silent', { write() {} })
  const options: FastifyServerOptions = { loggerInstance: pino({ level }, stream) }
  const app = Fastify(options)
  t.teardown(() => app.close())
  await app.register(profiler, { directory: makeFolder(t) })
  app.setChildLoggerFactory((logger, bindings) => logger.child({ ...bindings, mine: true }))
  app.get('/', async () => 'ok')
  await app.inject('/')
  const { logs } = await onlyProfile(t, app, '/')
  t.equal(logs[0]?.fields.mine, true)
})

t.test('an application without a logger still has lines in its profiles, and prints none', async t => {
  const app = Fastify({ logger: profiledLogger(false) })
  t.teardown(() => app.close())
  await app.register(profiler, { directory: makeFolder(t) })
  app.get('/', async () => {
    app.log.fatal('nobody hears it')
    return currentRecorder()?.token
  })
  const { body } = await app.inject('/')
  const { logs, token } = await onlyProfile(t, app, '/')
  t.equal(body, token)
  t.equal(logs.length, 3)
})

t.test('a line that is not JSON is kept as text, and lines beyond the bound are counted', async t => {
  const app = await profiledApp(t, { profileBounds: { logs: 3 } })
  app.get('/', async request => {
    request.recorder?.line('not JSON')
    request.recorder?.line('"only text"')
    for (let line = 0; line < 100; line++) request.log.info('more')
    return 'ok'
  })
  await app.inject('/')
  const { logs, dropped } = await onlyProfile(t, app, '/')
  t.same(
    logs.map(({ message }) => message),
    ['incoming request', 'not JSON', '"only text"'],
  )
  t.match(dropped, [{ what: 'logs', count: 101, why: 'A profile holds 3 log lines.' }])
})

t.test('a logged stack has two frames of the profiler, which no view shows', async t => {
  const app = await profiledApp(t)
  app.get('/', async function failing({ log }) {
    log.error(new Error('logged'), 'It failed')
    log.info({ nested: [{ stack: new Error('nested').stack, count: 1 }], none: null })
    return 'ok'
  })
  await app.inject('/')
  const profile = await onlyProfile(t, app, '/')
  const machinery = /traced-function|current-recorder|AsyncLocalStorage/g
  t.equal(JSON.stringify(profile.logs).match(machinery)?.length, 4)
  for (const accept of ['application/json', 'text/html', 'text/markdown']) {
    const { body } = await app.inject({ url: `/_profiler/${profile.token}?panel=logs`, headers: { accept } })
    t.match(body, /logs\.test.*preHandlerCallback/s)
    t.notMatch(body, machinery)
  }
})

t.test('a logged stack from another machine is shown unchanged', async t => {
  const app = await profiledApp(t)
  const stack = 'Error: foreign\n    at run (file://elsewhere/app.js:1:2)\n    at file:///%00:1:2'
  app.get('/', async ({ log }) => {
    log.info({ stack })
  })
  await app.inject('/')
  const { token } = await onlyProfile(t, app, '/')
  const { body } = await app.inject({ url: `/_profiler/${token}?panel=logs`, headers: { accept: 'application/json' } })
  t.match(body, JSON.stringify(stack).slice(1, -1))
})

t.test("pino's files and transports still receive their lines", async t => {
  const file = `${makeFolder(t)}/log`
  const options = profiledLogger({ file, redact: ['password'] })
  t.equal(options.level, 'trace')
  t.same(options.redact, ['password'])
  t.type(profiledLogger({ transport: { target: 'pino/file', options: { destination: 1 } } }).stream.write, 'function')
  const lines: string[] = []
  recordedLogger('silent', {
    write(line: string) {
      lines.push(line)
    },
  }).stream.write('past pino')
  t.same(lines, ['past pino'])
  for (const logger of [true, { level: 'warn' }]) t.type(profiledLogger(logger).stream.write, 'function')
})

t.test("the application's own multistream still receives its lines by level", async t => {
  const lines: string[] = []
  const errors: string[] = []
  const stream = pino.multistream([
    {
      level: 'info',
      stream: {
        write(line: string) {
          lines.push(line)
        },
      },
    },
    {
      level: 'error',
      stream: {
        write(line: string) {
          errors.push(line)
        },
      },
    },
  ])
  const options: FastifyServerOptions = { loggerInstance: pino({ level: 'info' }, stream) }
  const app = Fastify(options)
  t.teardown(() => app.close())
  await app.register(profiler, { directory: makeFolder(t) })
  app.get('/', async ({ log }) => {
    log.error('bad')
    return 'ok'
  })
  await app.inject('/')
  t.equal((await onlyProfile(t, app, '/')).logs.length, 3)
  t.same([lines.length, errors.length], [3, 1])
})

t.test("a logger of another copy of pino than the profiler's is recorded, and writes what it wrote", async t => {
  const lines: string[] = []
  const stream = {
    write(line: string) {
      lines.push(JSON.parse(line).msg)
    },
  }
  const options: FastifyServerOptions = { loggerInstance: copyOfPino()({ level: 'info' }, stream) }
  const app = Fastify(options)
  t.teardown(() => app.close())
  await app.register(profiler, { directory: makeFolder(t) })
  app.get('/', async ({ log }) => {
    log.child({ part: 'child' }).warn('of a child')
    log.debug('hidden')
    return 'ok'
  })
  await app.inject('/')
  const { logs, notes } = await onlyProfile(t, app, '/')
  t.same(
    logs.map(({ message }) => message),
    ['incoming request', 'of a child', 'hidden', 'request completed'],
  )
  t.same(lines, ['incoming request', 'of a child', 'request completed'])
  t.same(notes, [])
})

/** Pino loaded once more, as npm installs it twice where two packages want other versions. */
function copyOfPino(): typeof pino {
  const require = createRequire(import.meta.url)
  const folder = dirname(require.resolve('pino'))
  for (const file of Object.keys(require.cache)) if (file.startsWith(folder)) delete require.cache[file]
  return require('pino')
}

t.test('a logger other than pino is left alone, and the profile says why it has no lines', async t => {
  const lines: string[] = []
  const log = (_fields: unknown, message?: string) => {
    lines.push(String(message))
  }
  const child = (): FastifyBaseLogger => ({
    level: 'info',
    info: log,
    warn: log,
    error: log,
    fatal: log,
    debug: log,
    trace: log,
    silent: log,
    child,
  })
  const app = Fastify({ loggerInstance: child() })
  t.teardown(() => app.close())
  await app.register(profiler, { directory: makeFolder(t) })
  app.get('/', async () => 'ok')
  await app.inject('/')
  const { logs, notes } = await onlyProfile(t, app, '/')
  t.same(logs, [])
  t.match(notes, [/logger is not pino/])
  t.ok(lines.includes('incoming request'))
})

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const

for (const [level, printed] of [
  ['silent', []],
  ['error', ['error', 'fatal']],
  ['debug', ['incoming request', 'debug', 'info', 'warn', 'error', 'fatal', 'request completed']],
] as const) {
  t.test(
    `with logLevel ${level} a route or a plugin has every line in its profile, and its own level in the output`,
    async t => {
      const lines: string[] = []
      const app = await profiledApp(
        t,
        {},
        {
          logger: {
            level: 'info',
            stream: {
              write(line: string) {
                lines.push(JSON.parse(line).msg)
              },
            },
          },
        },
      )
      const handler = async ({ log }: FastifyRequest) => {
        for (const level of levels) log[level](level)
        return 'ok'
      }
      app.get('/route', { logLevel: level }, handler)
      app.register(
        async scope => {
          scope.get('/plugin', handler)
        },
        { logLevel: level },
      )
      for (const url of ['/route', '/plugin']) {
        lines.length = 0
        await app.inject(url)
        const { logs, notes } = await onlyProfile(t, app, url)
        t.same(
          logs.map(({ message }) => message),
          ['incoming request', ...levels, 'request completed'],
        )
        t.same(lines, printed)
        t.same(notes, [])
      }
    },
  )
}

t.test("an empty level of a request's logger, which earlier Fastifys pass, is the application's", async t => {
  const lines: string[] = []
  const stream = {
    write(line: string) {
      lines.push(JSON.parse(line).msg)
    },
  }
  const app = await profiledApp(t, {}, { logger: { level: 'warn', stream } })
  app.get('/', async ({ raw }) => {
    const log = app.childLoggerFactory(app.log, {}, { level: '' }, raw)
    for (const level of levels) log[level](level)
    return 'ok'
  })
  await app.inject('/')
  const { logs } = await onlyProfile(t, app, '/')
  t.same(
    logs.map(({ message }) => message),
    ['incoming request', ...levels, 'request completed'],
  )
  t.same(lines, ['warn', 'error', 'fatal'])
})

t.test("lines of another logger's children are recorded, and its output stays the same", async t => {
  const lines: string[] = []
  const other = pino(
    { level: 'debug' },
    {
      write(line: string) {
        lines.push(JSON.parse(line).msg)
      },
    },
  )
  const app = await profiledApp(t)
  app.setChildLoggerFactory((_logger, bindings, options) => other.child(bindings, options))
  app.get('/', { logLevel: 'warn' }, async ({ log }) => {
    for (const level of levels) log[level](level)
    return 'ok'
  })
  await app.inject('/')
  t.same(
    (await onlyProfile(t, app, '/')).logs.map(({ message }) => message),
    ['incoming request', ...levels, 'request completed'],
  )
  t.same(lines, ['warn', 'error', 'fatal'])
})

t.test("without profiledOptions() lines of every level of the application's logger are recorded too", async t => {
  const lines: string[] = []
  const flushed: string[] = []
  const stream = {
    write(line: string) {
      lines.push(JSON.parse(line).msg)
    },
    flushSync() {
      flushed.push('yes')
    },
  }
  const options: FastifyServerOptions = { loggerInstance: pino({ level: 'info' }, stream) }
  const apps = [Fastify(options), Fastify(options)]
  for (const app of apps) {
    t.teardown(() => app.close())
    await app.register(profiler, { directory: makeFolder(t) })
    app.get('/', { logLevel: 'fatal' }, async ({ log }) => {
      app.log.info('through the application')
      app.log.child({ part: 'child' }).warn('through its child')
      log.warn('hidden')
      log.fatal('bad')
      return 'ok'
    })
    lines.length = 0
    await app.inject('/')
    const { logs, notes } = await onlyProfile(t, app, '/')
    t.same(
      logs.map(({ message }) => message),
      ['incoming request', 'through the application', 'through its child', 'hidden', 'bad', 'request completed'],
    )
    t.same(lines, ['through the application', 'through its child', 'bad'])
    t.same(notes, [])
  }
  t.same(flushed, ['yes', 'yes'], 'fatal lines are flushed at once')
})

for (const [name, logger] of Object.entries({
  'compares levels in a way of its own': () =>
    pino({ level: 'info', levelComparison: (level, wanted) => level === wanted }, { write() {} }),
  'cannot be extended': () => Object.preventExtensions(pino({ level: 'info' }, { write() {} })),
})) {
  t.test(`a pino logger that ${name} stays as it is, and the profile says what it lacks`, async t => {
    const options: FastifyServerOptions = { loggerInstance: logger() }
    const app = Fastify(options)
    t.teardown(() => app.close())
    await app.register(profiler, { directory: makeFolder(t) })
    app.get('/', async ({ log }) => {
      log.debug('hidden')
      return 'ok'
    })
    await app.inject('/')
    const { logs, notes } = await onlyProfile(t, app, '/')
    t.same(
      logs.map(({ message }) => message),
      ['incoming request', 'request completed'],
    )
    t.match(notes, [/^Log lines below the logger's level \(info\)/])
  })
}

t.test('the level of a logger is what the application sets, whenever it does', async t => {
  const lines: string[] = []
  const stream = {
    write(line: string) {
      lines.push(JSON.parse(line).msg)
    },
  }
  const root = pino({ level: 'warn' }, stream)
  const before = root.child({}, { level: 'debug' })
  const options: FastifyServerOptions = { loggerInstance: root }
  const app = Fastify(options)
  t.teardown(() => app.close())
  await app.register(profiler, { directory: makeFolder(t) })
  const changes: unknown[] = []
  root.on('level-change', (level, value, levelBefore, valueBefore) => {
    changes.push([level, value, levelBefore, valueBefore])
  })
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
  const { body } = await app.inject('/')
  t.same(JSON.parse(body), [20, 'info', 50, 'error', 'error'])
  t.same(lines, ['a child from before', 'a child'])
  t.match(changes.at(-1), ['error', 50, 'warn', 40])
  t.throws(() => {
    root.level = 'none'
  }, /unknown level none/)
  t.equal(root.level, 'error')
  t.equal((await onlyProfile(t, app, '/')).logs.length, 7)
})

t.test("an application can flush its logger's stream, if that can be flushed", async t => {
  const flushed: string[] = []
  const write = () => {}
  const flush = (done: () => void) => {
    flushed.push('yes')
    done()
  }
  const flushable = { write, flush }
  const streams = [flushable, { write }, profiledLogger(false).stream]
  for (const logger of streams.map(stream => pino({}, stream))) {
    const options: FastifyServerOptions = { loggerInstance: logger }
    const app = Fastify(options)
    t.teardown(() => app.close())
    await app.register(profiler, { directory: makeFolder(t) })
    await new Promise(resolve => logger.flush(resolve))
  }
  t.same(flushed, ['yes'])
})
