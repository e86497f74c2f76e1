import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { build } from '../../support/build.ts'
import { keepLog } from '../../support/log.ts'
import { addLicense } from '../../support/records.ts'
import { sendBytes } from '../../support/send-bytes.ts'
import { openTestDatabase } from '../../support/test-database.ts'

const database = await openTestDatabase(t)
await addLicense(database, { domain: 'museum.test' })
const log = keepLog()

async function routes(app: FastifyInstance) {
  app.get('/', async () => 'ok')
}

const app = await build(t, { database, routes, logger: log.logger })
const address = await app.listen({ port: 0 })

/** @returns the answer's message */
async function ask(target: string | Buffer, headers: string | Buffer = '', options = {}) {
  const { host, method, accept } = { host: 'museum.test', method: 'GET', accept: '', ...options }
  const parts = [`${method} `, target, ' HTTP/1.1\r\nHost: ', host, `\r\nAccept: ${accept}\r\n`, headers]
  const answer = await sendBytes(address, Buffer.concat(parts.map(part => Buffer.from(part))))
  const body = answer.slice(answer.indexOf('\r\n\r\n') + 4)
  return body.startsWith('{') ? JSON.parse(body).detail : body
}

t.test('a referer in UTF-8 is repeated as it was sent', async t => {
  const message = await ask('/version', 'Referer: http://e/é/日本/😀\r\n')
  t.equal(message, 'No route found for "GET /version" (from "http://e/é/日本/😀")')
})

t.test('a target that is not ASCII never reaches a route', async t => {
  for (const target of ['/café', 'http://müseum.test/', Buffer.from('/caf\xe9', 'latin1')]) {
    t.equal(await ask(target), 'The request is not valid HTTP.')
  }
})

t.test('a host in UTF-8 is repeated as it was sent', async t => {
  t.equal(await ask('/', '', { host: 'müseum.test' }), 'Invalid Host "müseum.test".')
  t.equal(await ask('/', 'Host: bücher.test\r\n', { host: 'müseum.test' }), 'Invalid Host "müseum.test, bücher.test".')
})

t.test('a method override in UTF-8 is repeated as it was sent', async t => {
  t.equal(await ask('/', 'X-HTTP-Method-Override: dé\r\n', { method: 'POST' }), 'Invalid method override "dé".')
})

t.test('a referer that is not UTF-8 is repeated as latin1', async t => {
  for (const referer of ['http://e/\xe9', '\xed\xa0\x80 \xc0\xaf \xc3']) {
    const message = await ask('/x', Buffer.from(`Referer: ${referer}\r\n`, 'latin1'))
    t.equal(message, `No route found for "GET /x" (from "${referer}")`)
  }
})

t.test('markup in UTF-8 is escaped on a page', async t => {
  const body = await ask('/version', 'Referer: é<script>é\r\n', { accept: 'text/html' })
  t.match(body, '(from &#34;é&#60;script&#62;é&#34;)')
})

t.test('log lines show a host in UTF-8', async t => {
  await ask('/', '', { host: 'müseum.test' })
  t.ok(log.records().some(({ msg }) => msg === 'Invalid Host "müseum.test".'))
})
