import { setTimeout } from 'node:timers/promises'
import type { FastifyReply, RouteHandler, RouteShorthandOptions } from 'fastify'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import t from 'tap'
import { openPool, servePostgres } from './drivers/postgres-server.ts'
import { serveRedis } from './drivers/redis-server.ts'
import { standInService } from './drivers/stand-in-server.ts'
import { beginQuery } from '../features/queries/queries.ts'
import { fakeClock } from './fake-clock.ts'
import {
  deferred,
  everythingStored,
  keptLines,
  listen,
  onlyProfile,
  pageOf,
  panelOf,
  profiledApp,
  sendAndLeave,
} from './profiled-app.ts'

const redisAddress = { port: await serveRedis(t), host: '127.0.0.1' }
const redis = new Redis({ ...redisAddress, lazyConnect: true, enableReadyCheck: false })
const nodeRedis = createClient({ socket: redisAddress, RESP: 3 })
await nodeRedis.connect()
const pool = openPool(t, await servePostgres(t), { max: 2 })
const service = await standInService(t, async (_request, response) => {
  await setTimeout(40)
  response.end()
})
t.teardown(() => {
  redis.disconnect()
  nodeRedis.destroy()
})

const call = async () => (await fetch(`${service}/prices`)).text()

async function transaction(run: () => unknown): Promise<void> {
  const client = await pool.connect()
  for (const sql of ['begin', 'select 1']) await client.query(sql)
  await run()
  await client.query('commit')
  client.release()
}

/** The transaction has one of two connections, and the first query the other. */
const waitForPool = () => Promise.all(['sleep 40', 'select 2'].map(sql => pool.query(sql)))

const greeter = () =>
  function greet(_request: unknown, _reply: unknown, done: () => void): void {
    done()
  }
const greet = greeter()

const each = (keys: readonly string[], read: (key: string) => Promise<unknown>) => Promise.all(keys.map(read))
const get = (...keys: string[]) => each(keys, key => redis.get(key))

/** What a request does, what is found, and its hooks. */
const cases: Array<[what: string, run: () => unknown, found: RegExp | null, options?: RouteShorthandOptions]> = [
  ['reads that all miss', () => get('no:1', 'no:2', 'no:3'), /GET no:\*: 3 reads, 3 misses/],
  ['an MGET of nothing', () => redis.mget('none:a', 'none:b', 'none:c'), /MGET none:\*: 3 reads, 3 misses/],
  [
    'missing fields',
    () => each(['no1', 'no2', 'no3'], key => nodeRedis.hGet(key, 'x')),
    /HGET no\*: 3 reads, 3 misses/,
  ],
  ['two misses', () => get('no:1', 'no:2', 'n:3'), null],
  ['an MGET of one', () => redis.mget('n:1', 'n:2', 'n:3'), null],
  ['a call in a transaction', () => transaction(call), /query 1 was open for .* while GET \S+prices was under way/],
  ['a pause in a transaction', () => transaction(() => setTimeout(80)), /open for .* while none of its queries ran/],
  ['a wait in a transaction', () => transaction(waitForPool), /open for .* while query \d waited for a connection/],
  ['a call beside a transaction', () => Promise.all([call(), transaction(() => null)]), null],
  ['a hook twice', () => 'done', /preHandler greet is registered twice/, { preHandler: [greet, greet] }],
  ['two hooks of one name', () => 'done', null, { preHandler: [greet, greeter()], onRequest: greet }],
]

for (const [what, run, found, options = {}] of cases) {
  t.test(`${what} ${found === null ? 'is no finding' : 'is a finding with its line'}`, async t => {
    const app = await profiledApp(t)
    app.get('/', options, async () => {
      await run()
      return 'done'
    })
    const page = await panelOf(app, '/', 'performance')
    if (found === null) t.notMatch(page, /misses|was open|twice/)
    else t.match(page.split('\n').find(line => found.test(line)) ?? page, /findings\.test\.ts:\d+/)
  })
}

for (const [queries, count] of [
  ['queries', 9],
  ['more queries than have spans', 1200],
] as const) {
  t.test(`an N+1 of ${queries} at once takes one time everywhere, no longer than its request`, async t => {
    const { messages, logger } = keptLines('warn')
    const app = await profiledApp(t, {}, { logger })
    app.get('/', async () => {
      const asked = Array.from({ length: count }, (_, id) =>
        beginQuery(
          { system: 'postgresql', statement: `select * from rooms where id = ${id}`, parameters: [] },
          beginQuery,
        ),
      )
      // In many turns, since a busy machine's pause in one counts as blocked and not as waited.
      for (let turn = 0; turn < 10; turn++) await setTimeout(3)
      for (const query of asked) query?.end(1)
      return 'done'
    })
    const performance = await panelOf(app, '/', 'performance')
    const pages = [performance, await pageOf(app, 'latest?panel=database', 'text/markdown')]
    const [time, ...others] = [...messages, ...pages].map(text => /of one shape, ([\d.]+) ms/.exec(text)?.[1])
    t.same(others, [time, time])
    const [, whole] = /Duration: ([\d.]+) ms/.exec(performance) ?? []
    t.ok(Number(time) > 0 && Number(time) <= Number(whole), `${time} of ${whole} ms`)
  })
}

t.test(
  'the overview tells of a hook that runs twice, and of a cache that misses again and again, not of a cold one',
  async t => {
    const app = await profiledApp(t)
    let isCold = true
    app.get('/broken', () => get('no:1', 'no:2', 'no:3'))
    app.get('/cold', async () => {
      const key = isCold ? 'no' : 'n'
      isCold = false
      return get(`${key}:1`, `${key}:2`, `${key}:3`)
    })
    let reads = 0
    const fill = (key: string) => redis.set(key, 'filled')
    app.get('/changing', async () => {
      await get(`no:${reads++}`)
      return fill(`no:${reads}`)
    })
    app.get('/banned', () => get('no:1'))
    app.get('/each/:id', ({ url }) => get(`no:${url}`))
    app.get('/warm', () => get(reads++ === 3 ? 'no:1' : 'n:1'))
    app.get('/greeting', { preHandler: [greet, greet] }, () => 'done')
    for (const url of ['/greeting', '/broken', '/cold', '/broken', '/cold', '/cold']) await app.inject(url)
    for (const url of ['/changing', '/changing', '/changing', '/warm', '/warm', '/warm']) await app.inject(url)
    for (const url of ['/banned', '/banned', '/banned']) await app.inject(url)
    for (const url of ['/each/1', '/each/2', '/each/3']) await app.inject(url)
    const home = await pageOf(app, '')
    t.match(home, /GET \/broken: GET no:\*: 3 reads, 3 misses/)
    t.match(home, /GET \/changing: GET no:\*: each read missed/)
    // A busy machine may block the event loop.
    t.notMatch(home, /GET \/(?:banned|cold|warm|each\S+): (?!The event loop was blocked)/)
    t.match(home, /GET \/greeting: preHandler greet\d? is registered twice/)
  },
)

t.test('a handler that never replies is told on the home page and on its profile, not as slow code', async t => {
  const app = await profiledApp(t)
  app.get('/hangs', (_request, _reply) => {})
  const { port } = await listen(app)
  await sendAndLeave(port, 'GET /hangs HTTP/1.1\r\nhost: localhost\r\n\r\n', setTimeout(150))
  await everythingStored(app)
  t.match(await pageOf(app, ''), /GET \/hangs: its handler had not ended after \d+ ms/)
  const text = await pageOf(app, 'latest?panel=performance', 'text/markdown')
  t.match(text, /GET \/hangs had not ended after \d+ ms\..*neither replies nor calls done/)
  t.notMatch(text, 'Its own code')
})

t.test('a response that the application writes itself is being sent, however long that takes', async t => {
  const { sleep } = fakeClock(t)
  const app = await profiledApp(t)
  const write = async ({ raw }: FastifyReply) => {
    raw.writeHead(200, { 'content-type': 'text/event-stream' })
    raw.write('data: 1\n\n')
    await sleep(2000)
    raw.end('data: 2\n\n')
  }
  const writeLater = async (reply: FastifyReply) => {
    await sleep(1000)
    await write(reply)
  }
  const handlers: Record<string, RouteHandler> = {
    hijacks(_request, reply) {
      void write(reply.hijack())
    },
    'hijacks-and-writes-later'(_request, reply) {
      void writeLater(reply.hijack())
    },
    'hijacks-later'(_request, reply) {
      setImmediate(() => {
        void write(reply.hijack())
      })
    },
    'returns-reply': (_request, reply) => {
      void write(reply.hijack())
      return reply
    },
    async 'hijacks-async'(_request, reply) {
      void writeLater(reply.hijack())
    },
    async 'returns-reply-async'(_request, reply) {
      void writeLater(reply.hijack())
      return reply
    },
    awaits: async (_request, reply) => write(reply.hijack()),
    // As @fastify/sse does.
    'no-hijack': async (_request, reply) => write(reply),
    'no-hijack-sync'(_request, reply) {
      void write(reply)
    },
  }
  for (const [name, handler] of Object.entries(handlers)) app.get(`/${name}`, handler)
  for (const name of Object.keys(handlers)) {
    await app.inject(`/${name}`)
    const { duration, spans, status } = await onlyProfile(t, app, `/${name}`)
    t.match({ status, spans }, { status: 200, spans: [{ kind: 'handler', outcome: 'replied', duration: 0 }] }, name)
    t.ok(duration >= 2000, name)
    const text = await pageOf(app, 'latest?panel=performance', 'text/markdown')
    t.match(text, /\| Sending \| [23],000 ms \| 100% \|/, name)
    t.notMatch(text, /^- .*(?:GET|unaccounted)/m, name)
  }
  t.notMatch(await pageOf(app, ''), 'had not ended')
})

t.test('a query that a handler sends while it writes its response itself is a call of the handler', async t => {
  const app = await profiledApp(t)
  app.get('/', async (_request, reply) => {
    reply.hijack().raw.writeHead(200).write('one')
    await pool.query('select 1')
    reply.raw.end('two')
  })
  await app.inject('/')
  t.match((await onlyProfile(t, app, '/')).spans, [{ kind: 'handler' }, { kind: 'query', parent: 0 }])
})

t.test('a handler that hijacks its reply and then neither writes nor ends is told', async t => {
  const { block } = fakeClock(t)
  const app = await profiledApp(t)
  const entered = deferred()
  app.get('/hangs', async (_request, reply) => {
    reply.hijack()
    setImmediate(() => {
      block(150)
      entered.resolve()
    })
    await new Promise(() => {})
  })
  const { port } = await listen(app)
  await sendAndLeave(port, 'GET /hangs HTTP/1.1\r\nhost: localhost\r\n\r\n', entered.promise)
  await everythingStored(app)
  t.match(await pageOf(app, ''), /GET \/hangs: its handler had not ended after \d+ ms/)
})
