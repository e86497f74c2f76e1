import { AsyncLocalStorage } from 'node:async_hooks'
import postgres from 'postgres'
import t from 'tap'
import { openPool, servePostgres } from './drivers/postgres-server.ts'
import { standInService } from './drivers/stand-in-server.ts'
import { pageOf, panelOf, profiledApp, profileOf } from './profiled-app.ts'

const port = await servePostgres(t)
const pool = openPool(t, port)
let asked = 0
const statuses: Record<string, number> = { '/broken': 503, '/missing': 404 }
const service = await standInService(t, ({ url = '' }, response) => {
  const isTooEarly = url === '/flaky' && asked++ === 0
  response.writeHead(isTooEarly ? 503 : (statuses[url.replace(/(?<=\w)\/.*/, '')] ?? 200)).end()
})

const app = await profiledApp(t)
const call = async (path: string) => (await fetch(service + path)).text()
app.get('/query', async () => pool.query('fail quietly').catch(() => 'no rows'))
app.get('/late', async () => {
  void pool.query('fail after sleep 50').catch(() => null)
})
app.get('/call', async () => call('/broken'))
app.get('/both', async () => Promise.allSettled([pool.query('fail loudly'), call('/broken'), pool.query('select 1')]))
app.get('/missing', async () => call('/missing'))
app.get('/again', async () => {
  await call('/flaky')
  return call('/flaky')
})
app.get('/refused', async (_request, reply) => {
  await pool.query('fail at once').catch(() => null)
  return reply.code(409).send('There is one already')
})
app.get('/caught', async (_request, reply) => {
  try {
    throw new Error('The museum burns')
  } catch {
    return reply.code(500).send('Sorry')
  }
})
app.get('/caught-query', async (_request, reply) => {
  await pool.query('fail before').catch(() => reply.code(500).send('Sorry'))
  return reply
})
app.get('/replaced', async () => {
  await pool.query('fail before').catch(() => {
    throw new Error('Sorry')
  })
})
app.get('/unnamed', async () => {
  await pool.query('fail before').catch(() => {
    throw new RangeError()
  })
})
app.get('/logged', async request => {
  const [cause, retried] = [new Error('no wood'), new Error('A museum burnt')]
  request.log.error(retried)
  request.log.warn({ err: new Error('only a warning') })
  request.log.error({ err: Object.assign(retried, { cause }) })
  return 'Built again'
})
app.get('/logged-and-thrown', async request => {
  const error = new Error('The museum burns')
  request.log.error(new Error('it smells'))
  request.log.error(error)
  throw error
})
app.get('/thrown', async () => {
  throw new Error('The museum burns')
})

class Capturing extends Error {
  constructor(message: string) {
    super(message)
    Error.captureStackTrace(this, Capturing)
  }
}
class Missing extends Capturing {
  constructor() {
    super('missing')
  }
}
class Cut extends Missing {
  constructor() {
    super()
    this.stack = this.stack?.split('\n').slice(0, 3).join('\n') ?? ''
  }
}
class Shop {
  constructor() {
    throw new Missing()
  }
}

for (const [what, Made, expected] of [
  ['past the constructors of its classes', Missing, /fail$/],
  ['not past the constructor of another class', Shop, 'new Shop'],
  ['or of its first constructor if the stack has nothing else', Cut, 'new Missing'],
] as const) {
  t.test(`an error is of the line that made it, ${what}`, async t => {
    const app = await profiledApp(t)
    app.get('/', async function fail() {
      throw new Made()
    })
    t.match((await profileOf(app, '/')).exceptions[0]?.frames[0]?.function, expected)
  })
}

/** The findings of a request, as text. */
const findingsOf = (url: string) => panelOf(app, url, 'performance')

t.test('a query or call that failed is a finding, although the response is a success', async t => {
  t.match(
    await findingsOf('/query'),
    /1 query failed, and the request was answered 200\. .*cannot fail quietly.*failures/,
  )
  t.match(await findingsOf('/call'), /1 call failed, and the request was answered 200\. GET .*broken.*503/)
  t.match(await findingsOf('/both'), /1 query failed[^]*1 call failed/)
})

t.test('what fails after the response is told as such', async t => {
  t.match(await findingsOf('/late'), /1 query failed after the response\. .*cannot fail after sleep/)
})

t.test('a 404, a call that was sent again, and a failure that the response tells of are no findings', async t => {
  for (const url of ['/missing', '/again', '/refused']) t.notMatch(await findingsOf(url), /was answered/)
})

t.test('an error without a message is named by its class alone', async t => {
  const { token } = await profileOf(app, '/unnamed')
  const { profiles } = await app.profiler.search({ token })
  t.equal(profiles[0]?.exception, 'RangeError')
  const pages = await Promise.all(['', '?panel=lifecycle'].map(query => pageOf(app, `${token}${query}`)))
  for (const page of pages) t.notMatch(page, /RangeError: /)
  t.match(
    await pageOf(app, ''),
    /GET \/unnamed fails.*RangeError\. A query had failed before: [^]{1,60}cannot fail before/s,
  )
})

t.test('a 5xx without an exception says so', async t => {
  t.match(await findingsOf('/caught'), /500 without an exception/)
  t.notMatch(await findingsOf('/thrown'), /without an exception/)
  t.match(await panelOf(app, '/caught', 'exception'), /500 without an exception.*request\.log\.error\(error\)/s)
  t.notMatch(await panelOf(app, '/caught', 'exception', 'text/html'), 'unknown')
})

t.test('a 5xx names the query that had failed before, if no exception tells of it', async t => {
  const said = /A query had failed before: .*cannot fail before.*failures\.test\.ts:\d+/
  for (const url of ['/caught-query', '/replaced', '/thrown', '/caught']) {
    const panel = await panelOf(app, url, 'exception')
    if (/caught-query|replaced/.test(url)) t.match(panel, said)
    else t.notMatch(panel, said)
  }
  const home = await pageOf(app, '')
  for (const url of ['/caught-query', '/replaced']) {
    t.match(home, new RegExp(`GET ${url} fails[^]{1,400}A query had failed before: [^]{1,60}cannot fail before`))
  }
})

const sql = postgres({ host: '127.0.0.1', port, user: 'tester' })
t.teardown(() => sql.end())

for (const [what, send, thrown, expected] of [
  ['an error of pg', () => pool.query('fail alike'), (error: Error) => error, '2'],
  ['an error of postgres.js', () => sql.unsafe('fail alike'), (error: Error) => error, '2'],
  ['a cause', () => pool.query('fail alike'), (cause: Error) => new Error('Wrapped', { cause }), '2'],
  ['a copy', () => pool.query('fail alike'), ({ message }: Error) => new Error(message), undefined],
] as const) {
  t.test(`of two queries with one message, the one that failed with ${what} is named, or none`, async t => {
    const app = await profiledApp(t)
    app.get('/alike', async () => {
      const [, second] = await Promise.allSettled([send(), send()])
      throw second.status === 'rejected' ? thrown(second.reason) : new Error('It did not fail')
    })
    t.equal(/^#+ Query (\d) failed/m.exec(await panelOf(app, '/alike', 'exception'))?.[1], expected)
  })
}

t.test('an exception has no frame through which the profiler calls, but those of the application', async t => {
  const app = await profiledApp(t)
  const storage = new AsyncLocalStorage()
  const fail = () => {
    throw new Error('no')
  }
  app.get('/', async () => fail())
  app.get('/own', async () => storage.run(1, fail))
  for (const [url, own] of [
    ['/', 0],
    ['/own', 1],
  ] as const) {
    const { exceptions } = await profileOf(app, url)
    const names = exceptions[0]?.frames.map(frame => frame.function) ?? []
    t.match(names.join(), 'preHandlerCallback')
    t.equal(names.filter(name => name?.startsWith('AsyncLocalStorage')).length, own, url)
  }
})

t.test('an error in an error line is an exception of the request, after those that were thrown', async t => {
  for (const [url, expected] of [
    ['/logged', ['logged A museum burnt', 'cause no wood']],
    ['/logged-and-thrown', ['thrown The museum burns', 'logged it smells']],
  ] as const) {
    const profile = await profileOf(app, url)
    t.strictSame(
      profile.exceptions.map(({ relation, message }) => `${relation} ${message}`),
      expected,
    )
    t.ok(profile.exceptions[0]?.frames.some(({ file }) => /failures\.test/.test(file)))
  }
})

t.test('what failed is found by search, and marked in the list', async t => {
  const urlsOf = async (words: string) => {
    const { profiles } = JSON.parse(await pageOf(app, `search?q=${encodeURIComponent(words)}`, 'application/json'))
    return profiles.map(({ url }: { url: string }) => url).sort()
  }
  const failing = ['/both', '/caught-query', '/late', '/query', '/refused', '/replaced', '/unnamed']
  t.same(await urlsOf('failed:query'), failing)
  t.same(await urlsOf('failed:call'), ['/both', '/call'])
  t.match(await pageOf(app, 'search?failed=nothing'), 'failed takes query, call, not')
  const list = await pageOf(app, 'search?q=failed:query')
  t.match(list, '1 failed query')
  t.match(list, /value="failed:query"/)
  t.match(list, /failed=query&amp;sort=duration/, 'its columns sort what was found')
})

t.test('the overview tells of routes that answer in spite of a failure', async t => {
  const app = await profiledApp(t)
  app.get('/both', async () => Promise.allSettled([pool.query('fail loudly'), call('/broken')]))
  app.get('/missing', async () => call('/missing'))
  for (const url of ['/both', '/both', '/missing']) await app.inject(url)
  const home = await pageOf(app, '')
  t.match(home, /GET \/both: 1 query failed[^]*2 of 2<[^]*cannot fail loudly[^]*failures\.test\.ts:\d+/)
  t.match(home, /GET \/both: 1 call failed[^]*2 of 2</)
  t.notMatch(home, /GET \/missing, /)
})

t.test('of a failed call with a long URL, the overview tells the end and the status, by which it differs', async t => {
  const app = await profiledApp(t)
  const long = (end: string) => `/broken/${'segment/'.repeat(30)}${end}`
  app.get('/one', async () => call(long('orders')))
  app.get('/two', async () => call(long('customers')))
  for (const url of ['/one', '/two']) await app.inject(url)
  const home = await pageOf(app, '')
  for (const end of ['orders', 'customers']) t.match(home, new RegExp(`/broken/[^<]*…[^<]*/${end}: 503`))
})
