import { Readable } from 'node:stream'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { build } from '../support/build.ts'
import { addLicense } from '../support/records.ts'
import { openTestDatabase } from '../support/test-database.ts'

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

t.test('a matching ETag does not bypass the checks of another site', async t => {
  t.equal((await ask('/', '"1"', { host: 'protected.test' })).statusCode, 401)
  t.equal((await ask('/', '"1"', { host: 'nobody.test' })).statusCode, 404)
})

t.test('a matching ETag does not turn an error into a 304', async t => {
  t.equal((await ask('/gone', '"1"')).statusCode, 410)
  t.equal((await ask('/version', '"1"')).statusCode, 404)
  t.equal((await ask('/version', '*')).statusCode, 404)
})

t.test('HEAD is conditional, as GET is', async t => {
  t.equal((await ask('/', '"1"', { method: 'HEAD' })).statusCode, 304)
})

t.test('a POST is not conditional', async t => {
  t.equal((await ask('/', '"1"', { method: 'POST' })).body, 'posted')
})

t.test('an answer without an ETag is sent in full', async t => {
  t.equal((await ask('/untagged', '*')).body, 'untagged')
})

t.test('answers are private and revalidated unless their route says otherwise', async t => {
  t.equal((await ask('/untagged', '')).headers['cache-control'], 'private, no-cache')
  const { headers } = await ask('/public', '')
  t.equal(headers['cache-control'], 'public, max-age=60')
  t.equal(headers['expires'], 'Thu, 01 Jan 1970 00:00:00 GMT')
})

t.test('an unsuccessful answer is not stored', async t => {
  t.equal((await ask('/gone', '')).headers['cache-control'], 'no-store')
  t.equal((await ask('/moved', '')).headers['cache-control'], 'no-store')
})

t.test('routes can store values in app.cache', async t => {
  t.equal((await ask('/kept', '')).body, 'I')
  t.equal((await ask('/kept', '')).body, 'II')
})
