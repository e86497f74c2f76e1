import { Redis } from 'ioredis'
import { createClient } from 'redis'
import t from 'tap'
import { linesOf, profileOf } from './driver-app.ts'
import { serveRedis } from './redis-server.ts'

const port = await serveRedis(t)
const lineOf = linesOf(import.meta.filename)

interface Client {
  get(key: string): Promise<string | null>
  set(key: string, value: string): Promise<unknown>
  both(): Promise<unknown>
  pipelined(): Promise<unknown>
}

const redis = createClient({ socket: { port, host: '127.0.0.1' }, RESP: 3 })
redis.on('error', () => {})
await redis.connect()
const ioredis = new Redis({ port, host: '127.0.0.1', lazyConnect: true, enableReadyCheck: false })
t.teardown(() => {
  redis.destroy()
  ioredis.disconnect()
})

const clients: Record<string, Client> = {
  ioredis: {
    get: key => ioredis.get(key), // ioredis gets
    set: (key, value) => ioredis.set(key, value),
    both: () => ioredis.multi().set('one', 1).get('two').exec(), // ioredis does both
    pipelined: () => ioredis.pipeline().set('one', 1).get('two').exec(), // ioredis pipelines
  },
  'node-redis': {
    get: key => redis.get(key), // node-redis gets
    set: (key, value) => redis.set(key, value),
    both: () => redis.multi().set('one', 1).get('two').exec(), // node-redis does both
    pipelined: () => redis.multi().set('one', 1).get('two').execAsPipeline(), // node-redis pipelines
  },
}

for (const [name, client] of Object.entries(clients)) {
  t.test(`a command of ${name} has its keys, its caller and its duration, and no values`, async t => {
    await client.get('first')
    const { database } = await profileOf(t, async () => {
      t.equal(await client.get('mona'), 'Lisa')
      await client.set('session', 'hunter2')
    })
    t.match(database, {
      count: 2,
      failed: 0,
      queries: [
        { system: 'redis', sql: 'get', parameters: ['mona'], rows: null, location: { line: lineOf(`${name} gets`) } },
        { sql: 'set', parameters: ['session', '?'] },
      ],
    })
    t.ok(Number(database?.queries[0]?.duration) > 0)
  })

  t.test(`a command of ${name} that nobody awaits has its caller, and a loop of them is one`, async t => {
    const { database } = await profileOf(t, () => {
      for (let n = 0; n < 5; n++) void client.get(`user:${n}`)
    })
    t.match(database?.repetitions, [
      { kind: 'loop', count: 5, sql: 'get', locations: [{ line: lineOf(`${name} gets`) }] },
    ])
  })

  t.test(`the application gets the error of ${name} itself, and an unhandled one stays unhandled`, async t => {
    let thrown: unknown
    let unhandled: unknown
    const { database } = await profileOf(t, async () => {
      thrown = await client.get('fail').catch((error: unknown) => error)
      const isUnhandled = new Promise(resolve => {
        process.once('unhandledRejection', resolve)
      })
      void client.get('fail')
      unhandled = await isUnhandled
    })
    for (const error of [thrown, unhandled]) t.match(error, { message: /cannot do that/ })
    t.match(database, { count: 2, failed: 2, queries: [{ error: /cannot do that/ }, {}] })
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

t.test('a command that waits for its connection has its caller', async t => {
  const client = new Redis({ port, host: '127.0.0.1', enableReadyCheck: false })
  t.teardown(() => client.disconnect())
  const { database } = await profileOf(t, async () => {
    await client.get('early') // early
  })
  t.match(
    database?.queries.filter(({ sql }) => sql === 'get'),
    [{ parameters: ['early'], location: { line: lineOf('early') } }],
  )
})
