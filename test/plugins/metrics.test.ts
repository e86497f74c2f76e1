import { EventEmitter, once } from 'node:events'
import { Agent, get, METHODS } from 'node:http'
import { connect, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import parse from 'parse-prometheus-text-format'
import t, { type Test } from 'tap'
import { refused } from '../../plugins/checks.ts'
import applicationRoutes from '../../routes/index.ts'
import { longestTurn } from '../../src/serving/limits.ts'
import { addLicense, addUser, build, type BuildOptions, openTestDatabase } from '../support/site.ts'
import { stopClock } from '../support/clock.ts'
import { sendBytes } from '../support/send-bytes.ts'

const host = 'museum.test'
const email = 'keeper@museum.test'

const database = await openTestDatabase(t)
await addLicense(database, { domain: host, museums: ['Louvre'] })
const guarded = await addLicense(database, { domain: 'guarded.test', protected: true })
await addUser(database, { email, licenses: [guarded] })

type Labels = Record<string, string>

/** An app with metrics, and the address of these. */
async function start(t: Test, { environment, ...options }: BuildOptions = {}) {
  const log = new PassThrough()
  const app = await build(t, {
    database,
    environment: { METRICS_PORT: '0', ...environment },
    logger: { stream: log },
    ...options,
  })
  const [, address] = /Metrics are served at (http:\S+)"/.exec(String(log.read())) ?? []
  if (address === undefined) throw new Error('The log does not say where the metrics are.')
  log.resume()
  return { app, address }
}

/** Reads the metrics as Prometheus does. */
async function scrape(address: string) {
  const answer = await (await fetch(address)).text()
  // The parser would merge the histograms of all routes, so it reads their parts as metrics of their own.
  const families = parse(answer.replace(/^# TYPE \S+ histogram\n/gm, ''))
  return {
    text: answer,
    /** The value of the sample that has these labels. */
    valueOf(name: string, labels: Labels = {}): number | undefined {
      const sample = families
        .filter(family => family.name === name)
        .flatMap(({ metrics }) => metrics)
        .find(({ labels: own = {} }) => Object.entries(labels).every(([label, value]) => own[label] === value))
      return sample && Number(sample.value)
    },
    /** Every series of the server, without its values. */
    series(): string[] {
      return families
        .filter(({ name }) => name.startsWith('portico_'))
        .flatMap(({ name, metrics }) => metrics.map(({ labels }) => `${name} ${JSON.stringify(labels)}`))
        .sort()
    },
  }
}

/** How often it was counted that something refused a request. */
async function refusals(address: string, by: string): Promise<number | undefined> {
  return (await scrape(address)).valueOf('portico_requests_refused_total', { by })
}

const requests = 'portico_http_requests_total'
const durations = 'portico_http_request_duration_seconds'

t.test('Requests are counted by method, route and class of the status', async t => {
  const { app, address } = await start(t)
  const ask = (method: 'GET' | 'HEAD' | 'POST', url: string) => app.inject({ method, url, headers: { host } })
  await ask('GET', '/health')
  await ask('GET', '/health?probe=1')
  await ask('HEAD', '/health')
  await ask('GET', '/api/museums/999998')
  await ask('GET', '/api/museums/999999')
  await ask('POST', '/health')
  await ask('GET', '/health/')
  const { valueOf } = await scrape(address)
  for (const [method, route, status, count] of [
    ['GET', '/health', '2xx', 2],
    ['HEAD', '/health', '2xx', 1],
    ['GET', '/api/museums/:id(.+)', '4xx', 2],
    // A wrong method and another slash form have no route.
    ['POST', 'none', '4xx', 1],
    ['GET', 'none', '3xx', 1],
  ] as const) {
    t.equal(valueOf(requests, { method, route, status }), count, `${method} ${route}`)
  }
})

t.test('Durations are counted by route, in seconds', async t => {
  const letPass = stopClock(t)
  const { app, address } = await start(t, {
    async routes(app) {
      app.get('/slow', async () => letPass(1250))
    },
  })
  for (const url of ['/slow', '/slow', '/nowhere']) await app.inject({ url, headers: { host } })
  const { text: answer, valueOf } = await scrape(address)
  t.match(answer, `# TYPE ${durations} histogram`)
  t.equal(valueOf(`${durations}_count`, { route: '/slow' }), 2)
  t.equal(valueOf(`${durations}_count`, { route: 'none' }), 1)
  t.equal(valueOf(`${durations}_bucket`, { route: '/slow', le: '+Inf' }), 2)
  t.equal(valueOf(`${durations}_sum`, { route: '/slow' }), 2.5)
})

t.test('A thousand made-up paths and hosts, and every method, add no series', async t => {
  const { app, address } = await start(t)
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  for (const method of [...app.supportedMethods, 'PROPFIND']) {
    await sendBytes(origin, `${method} /x HTTP/1.1\r\nHost: x.test\r\n`)
  }
  await sendBytes(origin, `GET /api/museums/0 HTTP/1.1\r\nHost: ${host}\r\n`)
  await sendBytes(origin, 'GET /health HTTP/1.1\r\nHost: x.test\r\n')
  const before = (await scrape(address)).series()
  for (const method of METHODS) {
    await sendBytes(origin, `${method} /x HTTP/1.1\r\nHost: x.test\r\n`)
  }
  for (let number = 0; number < 1000; number++) {
    const paths = [`/made-up/${number}"\\{}=`, `/api/museums/9999999${number}`, `/health?${number}`]
    await app.inject({ url: `${paths[number % 3]}`, headers: { host: number % 3 === 1 ? host : `${number}.test` } })
  }
  const { series, valueOf } = await scrape(address)
  t.strictSame(series(), before)
  t.ok(Number(valueOf(requests, { method: 'other', route: 'none', status: '4xx' })) > 10)
})

t.test('Reads of the cache are counted by table and outcome', async t => {
  const { app, address } = await start(t)
  const ask = () => app.inject({ url: '/nowhere', headers: { host } })
  const read = async (outcome: string) =>
    (await scrape(address)).valueOf('portico_cache_reads_total', { segment: 'licenses', outcome })
  await Promise.all([ask(), ask(), ask()])
  t.equal(await read('miss'), 1)
  t.equal(await read('shared'), 2)
  await ask()
  t.equal(await read('hit'), 1)
})

t.test('The connections of the database pool are counted', async t => {
  const { address } = await start(t)
  const connection = await database.pool.connect()
  const { valueOf } = await scrape(address)
  connection.release()
  const [size, idle] = [valueOf('portico_database_pool_size'), valueOf('portico_database_pool_idle')]
  t.ok(Number(size) >= 1)
  t.ok(Number(idle) < Number(size), 'one is in use')
  t.equal(valueOf('portico_database_pool_waiting'), 0)
})

t.test('The process has the usual metrics', async t => {
  const { address } = await start(t)
  const { valueOf } = await scrape(address)
  t.ok(Number(valueOf('process_resident_memory_bytes')) > 1_000_000)
  t.ok(Number(valueOf('process_cpu_seconds_total')) > 0)
  t.ok(Number(valueOf('nodejs_eventloop_lag_p99_seconds')) >= 0)
})

t.test('Two apps of one process count apart', async t => {
  const one = await start(t)
  const other = await start(t)
  await one.app.inject({ url: '/health', headers: { host: 'a b' } })
  await one.app.inject({ url: '/', headers: { host: 'a b' } })
  t.equal(await refusals(one.address, 'host'), 1)
  t.equal(await refusals(other.address, 'host'), 0)
  t.equal((await scrape(other.address)).valueOf(requests, { route: '/health' }), undefined)
})

t.test('Refusals are counted by what refused', async t => {
  const { app, address } = await start(t, {
    environment: { TRUST_PROXY: 'loopback' },
    checks: [
      async app => {
        app.checks.set('own', 'An own check')
        app.addHook('onRequest', (request, _reply, done) => {
          done(request.headers.dnt === '1' ? refused(request, 'own', new Error('Not tracked.')) : undefined)
        })
      },
    ],
  })
  t.equal(await refusals(address, 'own'), 0)
  for (const headers of [
    { host, dnt: '1' },
    { host: 'a..b' },
    { host, forwarded: 'for' },
    { host: 'guarded.test' },
    { host: 'guarded.test', accept: 'text/html' },
  ]) {
    await app.inject({ url: '/', headers })
  }
  await app.inject({ method: 'POST', url: '/login', headers: { host, 'sec-fetch-site': 'cross-site' } })
  // What refused nothing is counted, too.
  const counts = { own: 1, host: 1, forwarded: 1, access: 2, 'request-checker': 1, license: 0 }
  for (const [by, count] of Object.entries(counts)) t.equal(await refusals(address, by), count, by)
})

t.test('Attempts to sign in that a limit refuses are counted', async t => {
  const { app, address } = await start(t, { environment: { TRUST_PROXY: 'loopback' } })
  await database.db.deleteFrom('sign_in_attempts').execute()
  const attempt = (from: string, payload: object) =>
    app.inject({ method: 'POST', url: '/login', headers: { host, 'x-forwarded-for': from }, payload })
  for (let number = 0; number < 21; number++) await attempt('198.51.100.1', {})
  t.equal(await refusals(address, 'sign-in-address'), 1)
  // All at once, so that passwords wait for each other.
  const wrong = { email: 'nobody@museum.test', password: 'wrong' }
  await Promise.all(Array.from({ length: 40 }, (_, number) => attempt(`198.51.100.${number + 2}`, wrong)))
  t.ok(Number(await refusals(address, 'sign-in-passwords')) > 0)
  await attempt('198.51.100.99', wrong)
  t.equal(await refusals(address, 'sign-in-account'), 1)
  await database.db.deleteFrom('sign_in_attempts').execute()
})

t.test('Requests queued behind an overlong turn get 503 and are counted, except for health and metrics', async t => {
  const letPass = stopClock(t)
  const { app, address } = await start(t, {
    async routes(app) {
      await app.register(applicationRoutes)
      app.get('/slow', async () => {
        letPass(longestTurn)
        // Injected requests do not wait for a turn.
        return String((await app.inject({ url: '/', headers: { host } })).statusCode)
      })
    },
  })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  // Caches the license: waiting for the database would give each request a turn of its own.
  await app.inject({ url: '/', headers: { host } })
  const sockets = new Map<string, Socket>()
  for (const path of ['/slow', '/', '/health', '/ready']) {
    const accepted = once(app.server, 'connection')
    sockets.set(path, connect(Number(new URL(origin).port), '127.0.0.1'))
    await accepted
  }
  for (const [path, socket] of sockets) {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  }
  const scraping = sendBytes(address, 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n')
  const [slow, refused, health, ready] = await Promise.all([...sockets.values()].map(socket => text(socket)))
  t.match(slow, /^HTTP\/1\.1 200 [^]*200$/)
  t.match(refused, /^HTTP\/1\.1 503 [^]*retry-after: 1\r\n[^]*"The server is overloaded\. Try again in a second\."/)
  for (const answer of [health, ready, await scraping]) t.match(answer, /^HTTP\/1\.1 200 /)
  t.equal(await refusals(address, 'overload'), 1)
})

t.test('The metrics are served by their port in the text format, and by no site', async t => {
  const { app, address } = await start(t)
  const { headers, status } = await fetch(address)
  t.strictSame([status, headers.get('content-type')], [200, 'text/plain; version=0.0.4; charset=utf-8'])
  t.equal((await app.inject({ url: '/metrics', headers: { host } })).statusCode, 404)
})

t.test('The metrics port refuses other paths, other methods and invalid requests, and answers the next', async t => {
  const { address } = await start(t)
  for (const path of ['/', '/metrics/', '/health', '/metrics/x', '//metrics', '/_profiler/']) {
    t.equal((await fetch(new URL(address).origin + path)).status, 404, path)
  }
  for (const method of ['POST', 'PUT', 'DELETE']) t.equal((await fetch(address, { method })).status, 404, method)
  for (const [head, status] of [
    ['GET /../metrics HTTP/1.1\r\nHost: x', 404],
    ['GET /%zz HTTP/1.1\r\nHost: x', 400],
    ['NONSENSE', 400],
    [`GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}`, 431],
  ] as const) {
    t.match(await sendBytes(address, `${head}\r\n`), new RegExp(`^HTTP/1\\.1 ${status} `))
  }
  t.equal((await fetch(address)).status, 200)
})

t.test(
  'Metrics are served until all requests are answered, which are counted only then, and end with the app',
  async t => {
    const signals = new EventEmitter()
    const { app, address } = await start(t, {
      async routes(app) {
        app.get('/held', { config: { license: 'optional' } }, async () => {
          signals.emit('begun')
          await once(signals, 'answer')
          return 'ok'
        })
      },
    })
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    const agent = new Agent({ keepAlive: true })
    t.teardown(() => agent.destroy())
    const [kept] = await once(get(address, { agent }), 'response')
    kept.resume()
    const begun = once(signals, 'begun')
    const response = fetch(`${origin}/held`)
    await begun
    const closed = app.close()
    t.equal((await scrape(address)).valueOf(requests, { route: '/held' }), undefined)
    signals.emit('answer')
    await response
    await closed
    await t.rejects(fetch(address))
  },
)

t.test('An address that the machine does not have stops the start with a sentence', async t => {
  await t.rejects(
    build(t, { database, environment: { METRICS_PORT: '0', METRICS_HOST: '192.0.2.1' } }),
    /^METRICS_HOST and METRICS_PORT cannot be used: listen EADDRNOTAVAIL: [^\n]+$/,
  )
})
