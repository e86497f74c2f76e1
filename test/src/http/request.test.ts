import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { addLicense, build, type BuildOptions, openTestDatabase } from '../../support/site.ts'
import { sendBytes } from '../../support/send-bytes.ts'

const database = await openTestDatabase(t)
for (const domain of ['museum.test', 'gallery.test']) await addLicense(database, { domain })

async function routes(app: FastifyInstance) {
  app.get('/', async ({ domain, url }) => `root of ${domain} at ${url}`)
  app.get('/thing', async ({ query }) => `the thing ${JSON.stringify(query)}`)
  app.get('/hosted', { constraints: { host: 'gallery.test' } }, async ({ domain }) => `hosted by ${domain}`)
}

async function listen(options: BuildOptions) {
  const app = await build(t, { database, ...options })
  return await app.listen({ port: 0 })
}

const app = await listen({ routes })
const open = await listen({
  async routes(app) {
    app.all('/*', async () => 'anything')
  },
})
const debug = await listen({ routes, environment: { DEBUG: '1' } })

async function ask(line: string, from = app, host = 'museum.test') {
  const answer = await sendBytes(from, `${line} HTTP/1.1\r\nHost: ${host}\r\n`)
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  const detail = body.startsWith('{') ? JSON.parse(body).detail : undefined
  return { status: Number(head.slice(9, 12)), head, body, detail }
}

for (const target of [
  '/version',
  'http://museum.test/version',
  '/version#x',
  'http://museum.test/version#x',
  'http://museum.test/version?a=b#/x',
  'HTTPS://museum.test/version#?x',
]) {
  t.test(`GET ${target} is answered as /version`, async t => {
    t.match(await ask(`GET ${target}`), { status: 404, detail: 'No route found for "GET /version"' })
  })
}

for (const target of [
  '/thing?a=b',
  'http://museum.test/thing?a=b',
  '/thing#x',
  'http://museum.test/thing#x',
  'http://museum.test:80/thing',
]) {
  t.test(`GET ${target} is answered by the route of /thing`, async t => {
    t.match(await ask(`GET ${target}`), { status: 200, body: /the thing/ })
  })
}

t.test('the query of an absolute-form target comes before its fragment', async t => {
  t.match(await ask('GET http://museum.test/thing?a=b'), { body: 'the thing {"a":"b"}' })
})

for (const target of ['http://museum.test', 'http://museum.test?a', 'http://museum.test/']) {
  t.test(`GET ${target} is answered by the root route`, async t => {
    t.match(await ask(`GET ${target}`), { status: 200, body: 'root of museum.test' })
  })
}

t.test('an absolute-form target is sent to its other slash form', async t => {
  const { status, head } = await ask('GET http://museum.test/thing/?a=b#x')
  t.equal(status, 301)
  t.match(head, 'location: http://museum.test/thing?a=b\r\n')
})

t.test('routes are constrained by the authority of an absolute-form target, not by the Host header', async t => {
  t.match(await ask('GET http://gallery.test/hosted'), { status: 200, body: 'hosted by gallery.test' })
  t.match(await ask('GET http://museum.test/hosted', app, 'gallery.test'), { status: 404 })
})

for (const target of ['*', '*thing', '*/thing', '*?a', '*health', 'ftp://museum.test/thing', 'x://thing']) {
  t.test(`GET ${target} is a bad request, whatever routes there are`, async t => {
    for (const from of [app, open, debug]) {
      t.match(await ask(`GET ${target}`, from), { status: 400, detail: `Invalid request target "${target}".` })
    }
  })
}

t.test('a target without a path is a bad request for any method', async t => {
  for (const line of ['OPTIONS *thing', 'POST *', 'HEAD *thing', 'DELETE *']) t.equal((await ask(line)).status, 400)
})

t.test('OPTIONS * is not found, since no route describes the server', async t => {
  for (const from of [app, debug]) {
    t.match(await ask('OPTIONS *', from), { status: 404, detail: 'No route found for "OPTIONS *"' })
  }
})

/** @returns the answer's message */
async function messageOf(target: string | Buffer, headers: string | Buffer = '', options = {}) {
  const { host, method, accept } = { host: 'museum.test', method: 'GET', accept: '', ...options }
  const parts = [`${method} `, target, ' HTTP/1.1\r\nHost: ', host, `\r\nAccept: ${accept}\r\n`, headers]
  const answer = await sendBytes(app, Buffer.concat(parts.map(part => Buffer.from(part))))
  const body = answer.slice(answer.indexOf('\r\n\r\n') + 4)
  return body.startsWith('{') ? JSON.parse(body).detail : body
}

t.test('a referer in UTF-8 is repeated as it was sent', async t => {
  const message = await messageOf('/version', 'Referer: http://e/é/日本/😀\r\n')
  t.equal(message, 'No route found for "GET /version" (from "http://e/é/日本/😀")')
})

t.test('a target that is not ASCII never reaches a route', async t => {
  for (const target of ['/café', 'http://müseum.test/', Buffer.from('/caf\xe9', 'latin1')]) {
    t.equal(await messageOf(target), 'The request is not valid HTTP.')
  }
})

t.test('a referer that is not UTF-8 is repeated as latin1', async t => {
  for (const referer of ['http://e/\xe9', '\xed\xa0\x80 \xc0\xaf \xc3']) {
    const message = await messageOf('/x', Buffer.from(`Referer: ${referer}\r\n`, 'latin1'))
    t.equal(message, `No route found for "GET /x" (from "${referer}")`)
  }
})
