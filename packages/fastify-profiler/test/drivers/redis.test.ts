import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import t from 'tap'
import { makeFolder } from '../folder.ts'
import { linesOf, profileOf } from './driver-app.ts'
import { serveRedis } from './redis-server.ts'

const port = await serveRedis(t)
const lineOf = linesOf(import.meta.filename)

interface Client {
  set(key: string, value: string): Promise<unknown>
  both(): Promise<unknown>
  pipelined(): Promise<unknown>
}

const redis = createClient({ socket: { port, host: '127.0.0.1' }, RESP: 3 })
redis.on('error', () => {})
await redis.connect()
const ioredis = new Redis({ port, host: '127.0.0.1', lazyConnect: true, enableReadyCheck: false })
// Before the first application, when nothing is watched.
ioredis.defineCommand('limit', { numberOfKeys: 1, lua: 'return 1' })
t.teardown(() => {
  redis.destroy()
  ioredis.disconnect()
})

const clients: Record<string, Client> = {
  ioredis: {
    set: (key, value) => ioredis.set(key, value),
    both: () => ioredis.multi().set('one', 1).get('two').exec(), // ioredis does both
    pipelined: () => ioredis.pipeline().set('one', 1).get('two').exec(), // ioredis pipelines
  },
  'node-redis': {
    set: (key, value) => redis.set(key, value),
    both: () => redis.multi().set('one', 1).get('two').exec(), // node-redis does both
    pipelined: () => redis.multi().set('one', 1).get('two').execAsPipeline(), // node-redis pipelines
  },
}

for (const [name, client] of Object.entries(clients)) {
  t.test(`a command of ${name} has its keys, and no values`, async t => {
    const { database } = await profileOf(t, () => client.set('session', 'hunter2'))
    t.match(database?.queries, [{ sql: 'set', parameters: ['session', '?'] }])
  })

  t.test(`the commands of a transaction and of a pipeline of ${name} are one query each`, async t => {
    const { database } = await profileOf(t, async () => {
      await client.both()
      await client.pipelined()
    })
    t.match(database, {
      count: 2,
      queries: [
        { sql: /^(?:multi|pipeline) of/, location: { line: lineOf(`${name} does both`) } },
        { sql: /^pipeline of 2/, location: { line: lineOf(`${name} pipelines`) } },
      ],
    })
  })
}

for (const [name, run] of Object.entries({
  ioredis: () => ioredis.eval('return 1', 2, 'cart:1', 'cart:2', 'hunter2'),
  'node-redis': () => redis.eval('return 1', { keys: ['cart:1', 'cart:2'], arguments: ['hunter2'] }),
})) {
  t.test(`a script of ${name} has its keys, and no values`, async t => {
    const { database } = await profileOf(t, run)
    t.match(database?.queries, [{ sql: 'eval', parameters: ['return 1', '2', 'cart:1', 'cart:2', '?'] }])
  })
}

t.test('a script with an invalid number of keys has no values', async t => {
  for (const count of ['all', '-1', '0.5', '0x1', '2']) {
    const { database } = await profileOf(t, () => ioredis.call('eval', 'return 1', count, 'hunter2'))
    t.match(database?.queries, [{ sql: 'eval', parameters: ['return 1', '?', '?'] }], count)
  }
})

for (const [what, command] of Object.entries({
  'scripts for different keys': (key: string) => ioredis.eval('return 1', 1, key),
  'functions for different keys': (key: string) => ioredis.call('fcall', 'count', '1', key),
  'messages to different channels': (key: string) => redis.publish(key, 'x'),
})) {
  t.test(`a loop of ${what} is no N+1`, async t => {
    const { database } = await profileOf(t, async () => {
      for (let id = 1; id <= 8; id++) await command(`cart:${id}`)
    })
    t.match(database, { count: 8, repetitions: [] })
    t.equal(database?.repetitions.length, 0)
  })
}

for (const [name, command, remedy] of [
  ['SETs', (key: string) => ioredis.set(key, 'x'), /^mset or a pipeline/],
  ['SETs with an expiry', (key: string) => ioredis.set(key, 'x', 'EX', 60), /^A pipeline would send all at once\.$/],
  ['SETs by node-redis with NX', (key: string) => redis.set(key, 'x', { NX: true }), /^A pipeline would/],
  [
    'SETs of which some have an expiry',
    (key: string) => (key.endsWith('1') ? ioredis.set(key, 'x') : ioredis.set(key, 'x', 'EX', 60)),
    /^A pipeline would/,
  ],
  ['HGETs of one key', (key: string) => ioredis.hget('carts', key), /^hmget or a pipeline/],
  ['HGETs of several keys', (key: string) => ioredis.hget(key, 'total'), /^A pipeline would/],
] as const) {
  t.test(`a loop of ${name} is advised only what does the same`, async t => {
    const { database } = await profileOf(t, async () => {
      for (let id = 1; id <= 8; id++) await command(`cart:${id}`)
    })
    t.match(database?.repetitions, [{ remedy }])
  })
}

t.test('a command that waits for its connection has its caller', async t => {
  const client = new Redis({ port, host: '127.0.0.1', enableReadyCheck: false })
  t.teardown(() => client.disconnect())
  const { database } = await profileOf(t, async () => {
    await client.get('early') // early
  })
  const found = database?.queries.filter(({ sql }) => sql === 'get')
  t.match(found, [{ parameters: ['early'], location: { line: lineOf('early') } }])
})

t.test('a command that a library sends after its caller is off the stack has the line that awaits it', async t => {
  const library = join(makeFolder(), 'node_modules', 'queue')
  mkdirSync(library, { recursive: true })
  writeFileSync(
    join(library, 'index.cjs'),
    `const trace = async call => call()
exports.add = async send => trace(async () => { await null; return await send() })
exports.run = async client => exports.add(() => client.limit('fail'))`,
  )
  const { add, run } = createRequire(import.meta.url)(join(library, 'index.cjs'))
  const { database } = await profileOf(t, async () => {
    await t.rejects(async () => await add(() => ioredis.get('fail'))) // awaited
    await t.rejects(async () => await run(ioredis)) // script awaited
  })
  const found = database?.queries.filter(({ sql }) => sql === 'get' || sql === 'evalsha')
  t.match(found, [
    { error: /cannot do that/, location: { line: lineOf('awaited') } },
    { error: /cannot do that/, location: { line: lineOf('script awaited') } },
  ])
})

t.test('an error that a callback gets is no rejection that nobody handles', async t => {
  const library = join(makeFolder(), 'node_modules', 'limiter')
  mkdirSync(library, { recursive: true })
  writeFileSync(
    join(library, 'index.cjs'),
    `const ask = call => new Promise(resolve => setImmediate(() => call(resolve)))
exports.get = client => ask(done => client.get('fail', done))
exports.run = client => ask(done => client.limit('fail', done))
exports.buffer = client => ask(done => client.limitBuffer('fail', done))`,
  )
  const limiter = createRequire(import.meta.url)(join(library, 'index.cjs'))
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  const { database } = await profileOf(t, async () => {
    for (const ask of [limiter.get, limiter.run, limiter.buffer]) t.match(await ask(ioredis), /cannot do that/)
  })
  t.match(database?.queries, [
    { sql: 'get', error: /cannot do that/, location: null },
    { sql: 'evalsha', error: /cannot do that/, location: null },
    { sql: 'evalsha', error: /cannot do that/, location: null },
  ])
  t.same(unhandled, [])
})
