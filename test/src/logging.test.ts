import { Writable } from 'node:stream'
import { fastify } from 'fastify'
import t from 'tap'
import { loggerOptions } from '../../src/logging.ts'

t.test('Where nobody reads along, the log is lines of JSON', async t => {
  t.strictSame(loggerOptions('warn', false), { level: 'warn' })
})

t.test('On a terminal the log is written for people', async t => {
  t.match(loggerOptions('debug', true), { level: 'debug', transport: { target: 'pino-pretty' } })
})

t.test('Fastify logs at the level and above', async t => {
  const lines: string[] = []
  const stream = new Writable({ write (line, _encoding, callback) { lines.push(String(line)); callback() } })
  const app = fastify({ logger: { ...loggerOptions('warn', false), stream } })
  t.teardown(() => app.close())

  app.log.info('an everyday thing')
  app.log.warn('a remarkable thing')

  t.equal(lines.length, 1)
  t.match(JSON.parse(lines[0] ?? ''), { level: 40, msg: 'a remarkable thing' })
})

t.test("Fastify accepts a terminal's log", async t => {
  const app = fastify({ logger: loggerOptions('silent', true) })
  t.teardown(() => app.close())
  t.equal(app.log.level, 'silent')
})
