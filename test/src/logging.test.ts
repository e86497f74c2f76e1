import { PassThrough, Writable } from 'node:stream'
import { fastify } from 'fastify'
import t from 'tap'
import { loggerOptions } from '../../src/logging.ts'
import { build } from '../support/build.ts'
import { addLicense, addUser } from '../support/records.ts'
import { signIn } from '../support/sign-in.ts'
import { openTestDatabase } from '../support/test-database.ts'

t.test('The log is JSON unless it goes to a terminal', async t => {
  t.strictSame(Object.keys(loggerOptions('warn', Object.assign(new PassThrough(), { isTTY: false }))), [
    'level',
    'serializers',
  ])
  t.strictSame(Object.keys(loggerOptions('warn', false)), ['level', 'serializers'])
})

t.test('Fastify logs at the configured level and above', async t => {
  const lines: string[] = []
  const stream = new Writable({
    write(line, _encoding, callback) {
      lines.push(String(line))
      callback()
    },
  })
  const app = fastify({ logger: { ...loggerOptions('warn', false), stream } })
  t.teardown(() => app.close())

  app.log.info('an everyday thing')
  app.log.warn('a remarkable thing')

  t.equal(lines.length, 1)
  t.match(JSON.parse(lines[0] ?? ''), { level: 40, msg: 'a remarkable thing' })
})

t.test('Fastify accepts the logger options for a terminal', async t => {
  const app = fastify({ logger: loggerOptions('silent', Object.assign(new PassThrough(), { isTTY: true })) })
  t.teardown(() => app.close())
  t.equal(app.log.level, 'silent')
})

t.test('the reason for refusing a request is logged at "info"', async t => {
  const database = await openTestDatabase(t)
  await addLicense(database, { domain: 'refusing.test' })
  const messages = ['No route found for "GET /version"', 'Invalid Host "a..b".']
  for (const [level, written] of Object.entries({
    trace: messages,
    debug: messages,
    info: messages,
    warn: [],
    error: [],
    fatal: [],
    silent: [],
  })) {
    const lines: string[] = []
    const stream = new Writable({
      write(line, _encoding, callback) {
        lines.push(JSON.parse(String(line)).msg)
        callback()
      },
    })
    const app = await build(t, { database, logger: { ...loggerOptions(level, false), stream } })
    await app.inject({ url: '/version', headers: { host: 'refusing.test' } })
    await app.inject({ url: '/version', headers: { host: 'a..b' } })
    t.strictSame(
      lines.filter(line => messages.includes(line)),
      written,
      level,
    )
  }
})

t.test('no log line of any level has a secret that a client sent', async t => {
  const database = await openTestDatabase(t)
  await addLicense(database, { domain: 'museum.test' })
  await addUser(database, { email: 'admin@museum.test', password: 'hunter2-password', admin: true })
  for (const debug of ['0', '1']) {
    let log = ''
    const stream = new Writable({
      write(line, _encoding, callback) {
        log += String(line)
        callback()
      },
    })
    const app = await build(t, {
      database,
      logger: { ...loggerOptions('trace', false), stream },
      environment: { DEBUG: debug, COOKIE_SECRET: 'hunter2'.repeat(5) },
    })
    const headers = {
      host: 'museum.test',
      authorization: 'Bearer hunter2',
      cookie: 'portico_session=hunter2; token=hunter2',
      'x-api-key': 'hunter2',
    }
    const json = { ...headers, 'content-type': 'application/json' }
    const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' }
    const cookie = await signIn(app, { host: 'museum.test', email: 'admin@museum.test', password: 'hunter2-password' })
    await app.inject({ url: '/', headers: { host: 'museum.test', cookie } })
    for (const url of ['/', '/version', '/login', '/%zz', '/api/users', '/api/museums']) {
      await app.inject({
        url: `${url}?token=hunter2&password=hunter2`,
        headers: { ...headers, referer: 'http://museum.test/reset?token=hunter2' },
      })
    }
    for (const referer of [
      "http://x/?name=O'Brien&token=hunter2",
      'http://x/?q=a hunter2',
      'http://user:hunter2@x/#access_token=hunter2',
      'hunter2',
      '" hunter2',
    ]) {
      await app.inject({ url: '/version', headers: { ...headers, referer } })
      await app.inject({ method: 'POST', url: '/', headers: { ...headers, referer } })
    }
    for (const url of ["/%zz?a='hunter2", '/version#hunter2', 'http://user:hunter2@museum.test/']) {
      await app.inject({ url, headers })
    }
    for (const host of ['user:hunter2@museum.test', 'x/?hunter2', 'x#hunter2']) {
      await app.inject({ url: '/version', headers: { ...headers, host } })
    }
    for (const payload of [
      '{"email":"admin@museum.test","password":"hunter2"}',
      '{"password":"hunter2"}',
      '{"password":hunter2}',
      '{"password":"hunter2',
      '["hunter2"]',
      '"hunter2"',
    ]) {
      await app.inject({ method: 'POST', url: '/login', headers: json, payload })
      await app.inject({ method: 'POST', url: '/api/users', headers: { ...json, cookie }, payload })
    }
    await app.inject({
      method: 'POST',
      url: '/login',
      headers: form,
      payload: 'email=admin%40museum.test&password=hunter2',
    })
    await app.inject({
      method: 'POST',
      url: '/login',
      headers: { ...headers, 'content-type': 'hunter2' },
      payload: 'hunter2',
    })
    await app.inject({
      method: 'POST',
      url: '/api/users',
      headers: { ...json, cookie },
      payload: { email: `other${debug}@museum.test`, password: 'hunter2-password' },
    })
    await app.close()
    t.match(log, 'incoming request')
    t.notMatch(log, 'hunter2')
    t.notMatch(log, /argon2/)
    t.notMatch(log, cookie.replace(/^[^=]*=/, ''))
  }
})
