import { setTimeout as sleep } from 'node:timers/promises'
import Fastify, { type FastifyBaseLogger, type FastifyServerOptions } from 'fastify'
import pino from 'pino'
import t from 'tap'
import profiler, { currentRecorder, profiledLogger, recordedLogger } from '../../../../plugins/debug/profiler/index.ts'
import { onlyProfile, profiledApp } from './profiled-app.ts'

t.test('lines of every level are in the profile, while the output keeps its own', async t => {
  const lines: string[] = []
  const app = Fastify({ logger: profiledLogger({ level: 'warn', stream: { write (line: string) { lines.push(line) } } }) })
  t.teardown(() => app.close())
  await app.register(profiler, { directory: t.testdir() })
  app.get('/', async request => {
    for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const) request.log[level]({ level }, level)
    request.log.child({ part: 'child' }).debug('of a child')
    request.log.info({ only: 'fields' })
    return 'ok'
  })
  await app.inject('/')
  const { logs } = await onlyProfile(t, app, '/')
  t.same(logs.map(({ message }) => message), ['incoming request', 'trace', 'debug', 'info', 'warn', 'error', 'fatal', 'of a child', '', 'request completed'])
  t.same(logs.find(({ message }) => message === 'of a child')?.fields.part, 'child')
  t.equal(lines.length, 3)
})

t.test('a hundred requests at once each have their own lines, whatever id the client gave them', async t => {
  const app = await profiledApp(t, {}, { requestIdHeader: 'x-request-id' })
  app.addHook('preHandler', async function wait () { await sleep(Math.random() * 5) })
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
    t.same(logs.map(({ message }) => message), [
      'incoming request', `first of ${id}`, `second of ${id}`, `through the application, of ${id}`, 'request completed'
    ])
  }
})

t.test('an application\'s own logger and its own factory of child loggers are followed', async t => {
  const { level, stream } = recordedLogger('silent', { write () {} })
  const options: FastifyServerOptions = { loggerInstance: pino({ level }, stream) }
  const app = Fastify(options)
  t.teardown(() => app.close())
  await app.register(profiler, { directory: t.testdir() })
  app.setChildLoggerFactory((logger, bindings) => logger.child({ ...bindings, mine: true }))
  app.get('/', async () => 'ok')
  await app.inject('/')
  const { logs } = await onlyProfile(t, app, '/')
  t.equal(logs[0]?.fields.mine, true)
})

t.test('an application without a logger gets the lines that others write, and none of them are printed', async t => {
  const app = Fastify({ logger: profiledLogger(false) })
  t.teardown(() => app.close())
  await app.register(profiler, { directory: t.testdir() })
  app.get('/', async () => currentRecorder()?.token)
  const { body } = await app.inject('/')
  const { logs, token } = await onlyProfile(t, app, '/')
  t.equal(body, token)
  t.equal(logs.length, 2)
})

t.test('a line that is no JSON is kept as text, and lines past the bound are counted', async t => {
  const app = await profiledApp(t, { profileBounds: { logs: 3 } })
  app.get('/', async request => {
    request.recorder?.line('not JSON')
    request.recorder?.line('"only text"')
    for (let line = 0; line < 100; line++) request.log.info('more')
    return 'ok'
  })
  await app.inject('/')
  const { logs, dropped } = await onlyProfile(t, app, '/')
  t.same(logs.map(({ message }) => message), ['incoming request', 'not JSON', '"only text"'])
  t.match(dropped, [{ what: 'logs', count: 101, why: 'A profile holds 3 log lines.' }])
})

t.test('files and transports of pino go on receiving what they did', async t => {
  const file = `${t.testdir()}/log`
  const options = profiledLogger({ file, redact: ['password'] })
  t.equal(options.level, 'trace')
  t.same(options.redact, ['password'])
  t.type(profiledLogger({ transport: { target: 'pino/file', options: { destination: 1 } } }).stream.write, 'function')
  for (const logger of [true, { level: 'warn' }]) t.type(profiledLogger(logger).stream.write, 'function')
})

t.test('an application\'s own multistream goes on receiving its lines by their level', async t => {
  const lines: string[] = []
  const errors: string[] = []
  const stream = pino.multistream([{ level: 'info', stream: { write (line: string) { lines.push(line) } } }, { level: 'error', stream: { write (line: string) { errors.push(line) } } }])
  const options: FastifyServerOptions = { loggerInstance: pino({ level: 'info' }, stream) }
  const app = Fastify(options)
  t.teardown(() => app.close())
  await app.register(profiler, { directory: t.testdir() })
  app.get('/', async ({ log }) => {
    log.error('bad')
    return 'ok'
  })
  await app.inject('/')
  t.equal((await onlyProfile(t, app, '/')).logs.length, 3)
  t.same([lines.length, errors.length], [3, 1])
})

t.test('a logger that is not pino\'s is left alone, and the profile says why it has no lines', async t => {
  const lines: string[] = []
  const log = (_fields: unknown, message?: string) => { lines.push(String(message)) }
  const child = (): FastifyBaseLogger => ({ level: 'info', info: log, warn: log, error: log, fatal: log, debug: log, trace: log, silent: log, child })
  const app = Fastify({ loggerInstance: child() })
  t.teardown(() => app.close())
  await app.register(profiler, { directory: t.testdir() })
  app.get('/', async () => 'ok')
  await app.inject('/')
  const { logs, notes } = await onlyProfile(t, app, '/')
  t.same(logs, [])
  t.match(notes, [/no logger of pino's/])
  t.ok(lines.includes('incoming request'))
})
