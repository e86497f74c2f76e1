import { EventEmitter, once } from 'node:events'
import { type AddressInfo, createServer as listenTo, type Socket } from 'node:net'
import pg from 'pg'
import type { FastifyInstance, InjectOptions, RouteHandlerMethod } from 'fastify'
import t from 'tap'
import { openPool, servePostgres } from './drivers/postgres-server.ts'
import { standInService } from './drivers/stand-in-server.ts'
import { flag, run } from './flagged.ts'
import { fakeClock } from './fake-clock.ts'
import { keepBusy, pageOf, profiledApp } from './profiled-app.ts'

const port = await servePostgres(t)
const pool = openPool(t, port, { max: 20 })
const traces: unknown[] = []
const origin = await standInService(t, ({ headers, url = '' }, response) => {
  if (url.includes('traced')) traces.push([headers.traceparent, headers.tracestate])
  response.writeHead(url.includes('broken') ? 503 : 200).end()
})

/** When the profile has been stored. */
const stored = (app: FastifyInstance) => app.profiler.settled()

/** Asks for a page again and again, until it says something. */
async function pageThatSays(app: FastifyInstance, path: string, said: RegExp, accept = 'text/markdown') {
  for (let end = Date.now() + 60_000; ; await new Promise(resolve => setTimeout(resolve, 20))) {
    const page = await pageOf(app, path, accept)
    if (said.test(page) || Date.now() > end) return page
  }
}

/** An application that works on when the profile of its answer has been stored. */
async function lateApp(work: Record<string, RouteHandlerMethod>, t: Parameters<typeof profiledApp>[0]) {
  const app = await profiledApp(t, { patience: 10, propagateTo: [origin] })
  for (const [path, handler] of Object.entries(work)) app.get(`/${path}`, handler)
  const ask = async (request: InjectOptions | string) => {
    const { headers } = await app.inject(request)
    await stored(app)
    return String(headers['x-debug-token'])
  }
  return { app, ask }
}

t.test('what begins or fails after the profile is stored is added to it', async t => {
  const answers = new EventEmitter()
  const answered = async () => once(answers, 'stored')
  const { app, ask } = await lateApp(
    {
      begins: async () => {
        void answered().then(() => pool.query('fail begun late').catch(() => null))
      },
      fails: async () => {
        void pool.query('fail after sleep 200').catch(() => null)
      },
      succeeds: async () => {
        void pool.query('select sleep 200')
      },
      connects: async () => {
        const client = await openPool(t, port).connect()
        void client.query('select sleep 200').finally(() => client.release(true))
      },
      waits: async () => {
        const slow = openPool(t, port, { max: 1 })
        const query = async () => slow.query('select sleep 200')
        void Promise.all([query(), query()])
      },
      calls: async () => {
        void answered().then(async () => (await fetch(`${origin}/broken`)).text())
      },
      logs: async request => {
        void answered().then(() => request.log.error('The museum burns'))
      },
    },
    t,
  )
  const tokens: Record<string, string> = {}
  const paths = ['begins', 'fails', 'succeeds', 'connects', 'waits', 'calls', 'logs']
  for (const path of paths) tokens[path] = await ask(`/${path}`)
  answers.emit('stored')
  const cases: Array<[path: string, panel: string, said: RegExp]> = [
    ['begins', 'database', /fail begun late.*after the response.*failed: .*cannot fail begun late/],
    ['begins', 'performance', /1 query failed after the response/],
    ['fails', 'database', /1 failed[^]*fail after sleep 200.*after the response.*failed: .*cannot/],
    ['succeeds', 'database', /\| 1 \| [\d.]+ ms.*select sleep 200.*after the response/],
    ['connects', 'database', /query: 1 [^]*\| 1 \| [\d.]+ ms.*select sleep 200/],
    ['waits', 'database', /longest wait for a connection: [\d.]+ ms[^]*\| 2 \| [\d.]+ ms/],
    ['calls', 'http-client', /broken.*after the response.*503/],
    ['calls', 'performance', /1 call failed after the response/],
    ['logs', 'logs', /error .*after the response.*The museum burns/],
  ]
  for (const [path, panel, said] of cases) {
    t.match(await pageThatSays(app, `${tokens[path]}?panel=${panel}`, said), said, `${path}: ${panel}`)
  }
  const list = await pageOf(app, 'search?q=failed:query')
  t.match(list, /begins[^]*1 failed query/)
  t.match(await pageOf(app, 'search?q=failed:call'), /calls[^]*1 failed call/)
  t.match(await pageOf(app, ''), /GET \/begins: 1 query failed after the response/)
  t.equal((await app.profiler.search({})).total, 7, 'each has one profile')
})

t.test('what begins before the profile is made is late as well, while other requests are open', async t => {
  const app = await profiledApp(t)
  app.get('/', async ({ log }) => {
    setImmediate(() => {
      setImmediate(async () => {
        log.info('An info line that came late')
        for (let id = 0; id < 6; id++) await pool.query('select * from rooms where id = $1', [id])
      })
    })
  })
  await keepBusy(app)
  const { headers } = await app.inject('/')
  const token = String(headers['x-debug-token'])
  await pageThatSays(app, `${token}?panel=database`, /\| 6 \| /)
  const profile = await app.profiler.find(token)
  t.equal(profile?.database?.count, 6)
  t.ok(profile?.database?.queries.every(({ isLate }) => isLate))
  t.same(profile?.database?.repetitions, [])
  t.same(
    profile?.logs.filter(({ message }) => message.includes('late')),
    [],
  )
})

t.test('an exception that is told after the response is in the profile, whether or not others run', async t => {
  for (const othersRun of [false, true]) {
    const app = await profiledApp(t)
    app.get('/', async ({ recorder }) => {
      setImmediate(() => setImmediate(() => recorder?.exception(new Error('Told late'))))
    })
    if (othersRun) await keepBusy(app)
    const { headers } = await app.inject('/')
    t.match(await pageThatSays(app, `${headers['x-debug-token']}?panel=exception`, /Told late/), 'Told late')
  }
})

t.test('late statements that differ in the values in their texts are one shape', async t => {
  const answers = new EventEmitter()
  const { app, ask } = await lateApp(
    {
      asks: async () => {
        await pool.query('select sleep 1')
        void once(answers, 'stored').then(async () => {
          for (const id of [7, 8, 9]) await pool.query(`select one from museums where id = ${id}`)
        })
      },
    },
    t,
  )
  const token = await ask('/asks')
  answers.emit('stored')
  t.match(await pageThatSays(app, `${token}?panel=database`, /queries: 4/), 'queries: 4 (of 2 shapes)')
})

t.test('what comes late is masked with the secrets of its request, and hostile values do no harm', async t => {
  const answers = new EventEmitter()
  const hostile = Object.defineProperty(new Error('odd'), 'message', {
    get() {
      throw new Error('<script>alert(1)</script>')
    },
  })
  const { app, ask } = await lateApp(
    {
      secret: async request => {
        const secret = String(request.headers['x-api-key'])
        void once(answers, 'stored').then(async () => {
          request.log.error({ err: new Error(`no ${secret}`), note: '<script>alert(2)</script>' }, `with ${secret}`)
          await fetch(`${origin}/broken?of=${secret}`)
          await pool.query(`fail for '${secret}'`, [secret]).catch(() => null)
          await pool.query('fail with password', [hostile]).catch(() => null)
        })
      },
    },
    t,
  )
  const secret = 'k3y-0f-the-museum-1789'
  const token = await ask({ url: '/secret', headers: { 'x-api-key': secret } })
  answers.emit('stored')
  t.match(await pageThatSays(app, `${token}?panel=database`, /fail with password/), /fail with password/)
  const profile = JSON.stringify(await app.profiler.find(token))
  t.match(profile, /"status":503/)
  t.match(profile, /with \[masked\]/)
  t.notMatch(profile, secret)
  for (const panel of ['database', 'http-client', 'logs']) {
    t.notMatch(await pageOf(app, `${token}?panel=${panel}`), /<script>alert/)
  }
})

t.test('of one request 20 pieces of late work are kept, which is said', async t => {
  const answers = new EventEmitter()
  const { app, ask } = await lateApp(
    {
      chatty: async request => {
        void once(answers, 'stored').then(() => {
          for (let line = 1; line <= 30; line++) request.log.warn(`line ${line}.`)
          request.log.info('nothing')
        })
      },
    },
    t,
  )
  const token = await ask('/chatty')
  answers.emit('stored')
  const page = await pageThatSays(app, `${token}?panel=logs`, /line 20\./)
  t.match(page, 'line 20.')
  t.notMatch(page, /line 21\.|nothing/)
  t.match(JSON.stringify(await app.profiler.find(token)), /holds 20 pieces/)
})

t.test('of 1,100 requests whose late work goes on, that of the oldest is stored as it is', async t => {
  // However long it takes, no work is followed for too long.
  fakeClock(t)
  const answers = new EventEmitter()
  answers.setMaxListeners(0)
  const sockets: Socket[] = []
  const silent = listenTo(socket => sockets.push(socket)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const waiting = new pg.Pool({ host: '127.0.0.1', port, max: 1 })
  const { app, ask } = await lateApp(
    {
      many: async () => {
        void once(answers, 'stored').then(() => waiting.query('select 1').catch(() => null))
      },
    },
    t,
  )
  const tokens: string[] = []
  for (let request = 0; request < 1100; request++) tokens.push(await ask('/many'))
  answers.emit('stored')
  const panels = [tokens[0], tokens.at(-1)].map(token => `${token}?panel=database`)
  const [oldest = '', newest = ''] = panels
  t.match(await pageThatSays(app, oldest, /select 1/), /Unfinished/)
  t.notMatch(await pageOf(app, newest, 'text/markdown'), /select 1/, 'the newest still waits')
  silent.close()
  for (const socket of sockets) socket.destroy()
  for (const panel of panels) t.match(await pageThatSays(app, panel, /failed: /), /1 failed[^]*failed: /)
  t.equal((await app.profiler.search({})).total, 1100)
  await waiting.end()
})

t.test('requests that are made after the response belong to the trace of the request', async t => {
  const answers = new EventEmitter()
  const { app, ask } = await lateApp(
    {
      calls: async () => {
        void once(answers, 'stored').then(async () => fetch(`${origin}/traced`))
      },
    },
    t,
  )
  const trace = 'a'.repeat(32)
  const token = await ask({ url: '/calls', headers: { traceparent: `00-${trace}-${'b'.repeat(16)}-01` } })
  answers.emit('stored')
  t.match(await pageThatSays(app, `${token}?panel=http-client`, /traced/), 'traced')
  t.match(traces, [[new RegExp(`^00-${trace}-[\\da-f]{16}-01$`), `fastify-profiler=${token}`]])
})

t.test('a timer keeps nothing of its request in memory, nor its secrets once nothing more is recorded', async t => {
  const source = `import { EventEmitter } from 'node:events'
import Fastify from 'fastify'
import { text } from 'node:stream/consumers'
import { getHeapSnapshot } from 'node:v8'
const secret = () => ['k3y', '0f', 'the', 'museum', '1789'].join('-')
const app = Fastify({ logger: { stream: { write () {} } } })
const kept = {}
const answers = new EventEmitter()
app.post('/', async request => {
  Object.assign(kept, { raw: new WeakRef(request.raw), body: new WeakRef(request.body) })
  setTimeout(() => {}, 60_000).unref()
  once(answers, 'stored').then(() => { for (let line = 0; line < 30; line++) app.log.warn('late') })
  return 'ok'
})
const { headers } = await app.inject({ method: 'POST', url: '/', headers: { 'x-api-key': secret() }, payload: { a: 1 } })
const link = '/_profiler/' + headers['x-debug-token']
const profile = async () => (await app.inject({ url: link, headers: { accept: 'application/json' } })).json()
await profile()
answers.emit('stored')
while ((await profile()).logs.length < 20) await new Promise(resolve => setTimeout(resolve, 20))
gc()
tell(Object.keys(kept).filter(name => kept[name].deref() !== undefined))
tell((await text(getHeapSnapshot())).includes(secret()))
await app.close()`
  const { told, errors, code } = await run(t, source, { flags: ['--expose-gc', ...flag] })
  t.same([told, errors, code], [[[], false], [], 0])
})
