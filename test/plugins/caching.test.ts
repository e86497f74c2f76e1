import { Readable } from 'node:stream'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { addLicense, build, openTestDatabase } from '../support/site.ts'

const database = await openTestDatabase(t)
await addLicense(database, { domain: 'museum.test' })
await addLicense(database, { domain: 'protected.test', protected: true })

const stream = Readable.from(['streamed'])

async function routes(app: FastifyInstance) {
  app.get('/', async (request, reply) => reply.etag('"1"').send(`version 1 for ${request.headers['x-who'] ?? 'all'}`))
  app.get('/other', async (_request, reply) => reply.etag('"2"').send('another'))
  app.get('/untagged', async () => 'untagged')
  app.get('/stream', async (_request, reply) => reply.etag('"1"').type('text/plain').send(stream))
  app.get('/public', async (_request, reply) =>
    reply.header('cache-control', 'public, max-age=60').expires(new Date(0)).send('public'),
  )
  app.get(
    '/kept',
    async () =>
      await new Promise((resolve, reject) => {
        app.cache.get<string>('visits', (error, cached) => {
          if (error) return reject(error)
          const visits = `${cached?.item ?? ''}I`
          app.cache.set('visits', visits, 60_000, () => resolve(visits))
        })
      }),
  )
  app.get('/gone', async (_request, reply) => reply.code(410).etag('"1"').send('gone'))
  app.get('/moved', async (_request, reply) => reply.redirect('/'))
  app.get('/unchanged', async (_request, reply) => reply.code(304).send())
  app.post('/', async (_request, reply) => reply.etag('"1"').send('posted'))
}

const app = await build(t, { database, routes })

async function ask(url: string, condition: string, options: { method?: 'GET' | 'HEAD' | 'POST'; host?: string } = {}) {
  return await app.inject({
    method: options.method ?? 'GET',
    url,
    headers: { host: options.host ?? 'museum.test', 'if-none-match': condition },
  })
}

for (const condition of ['"1"', 'W/"1"', '"0", "1"', '"0",W/"1" , "2"', '*']) {
  t.test(`If-None-Match: ${condition} is answered with 304`, async t => {
    const response = await ask('/', condition)
    t.equal(response.statusCode, 304)
    t.equal(response.body, '')
    t.equal(response.headers.etag, '"1"')
    t.equal(response.headers['cache-control'], 'private, no-cache')
    t.notOk(response.headers['content-type'])
    t.notOk(response.headers['content-length'])
  })
}

for (const condition of ['"2"', '1', '', '"', ',,,', '"1', 'W/1', `${'"x",'.repeat(2000)}"y"`]) {
  t.test(`If-None-Match: ${condition.slice(0, 20)} is answered in full`, async t => {
    t.equal((await ask('/', condition)).statusCode, 200)
  })
}

t.test('the stream behind a 304 is destroyed', async t => {
  t.equal((await ask('/stream', '"1"')).statusCode, 304)
  t.ok(stream.destroyed)
})

t.test('an ETag of another path does not match', async t => {
  await ask('/other', '"0"')
  t.equal((await ask('/', '"2"')).statusCode, 200)
})

/** Requests, and what their answers have. */
const asked: Record<string, [url: string, condition: string, expected: object, options?: Parameters<typeof ask>[2]]> = {
  'a matching ETag signs nobody in': ['/', '"1"', { statusCode: 401 }, { host: 'protected.test' }],
  'a matching ETag is no license': ['/', '"1"', { statusCode: 404 }, { host: 'nobody.test' }],
  'a matching ETag does not turn a 410 into a 304': ['/gone', '"1"', { statusCode: 410 }],
  'a matching ETag does not turn a 404 into a 304': ['/version', '"1"', { statusCode: 404 }],
  'an asterisk does not turn a 404 into a 304': ['/version', '*', { statusCode: 404 }],
  'HEAD is conditional, as GET is': ['/', '"1"', { statusCode: 304 }, { method: 'HEAD' }],
  'a POST is not conditional': ['/', '"1"', { body: 'posted' }, { method: 'POST' }],
  'an answer without an ETag is sent in full': ['/untagged', '*', { body: 'untagged' }],
  'an answer is private and revalidated': ['/untagged', '', { headers: { 'cache-control': 'private, no-cache' } }],
  'a route may let others store its answer': [
    '/public',
    '',
    { headers: { 'cache-control': 'public, max-age=60', expires: 'Thu, 01 Jan 1970 00:00:00 GMT' } },
  ],
  "a route's own 304 leaves the client its copy": [
    '/unchanged',
    '',
    { statusCode: 304, headers: { 'cache-control': 'private, no-cache' } },
  ],
  'an unsuccessful answer is not stored': ['/gone', '', { headers: { 'cache-control': 'no-store' } }],
  'a redirect is not stored': ['/moved', '', { headers: { 'cache-control': 'no-store' } }],
}

for (const [title, [url, condition, expected, options]] of Object.entries(asked)) {
  t.test(title, async t => {
    t.match(await ask(url, condition, options), expected)
  })
}

t.test('routes can store values in app.cache', async t => {
  t.equal((await ask('/kept', '')).body, 'I')
  t.equal((await ask('/kept', '')).body, 'II')
})
