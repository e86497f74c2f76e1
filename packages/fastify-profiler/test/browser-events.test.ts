import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { FastifyInstance, InjectOptions } from 'fastify'
import type { ProfilerOptions } from '../index.ts'
import { makeFolder } from './folder.ts'
import { hostileStrings } from './views/hostile-profile.ts'
import { onlyProfile, pageOf, profiledApp, profileOf } from './profiled-app.ts'

const sameOrigin = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }
const thrown = {
  kind: 'error',
  message: 'cart is undefined',
  time: 12.3,
  place: 'app.js:1:2',
  stack: 'at x',
  status: null,
}

const thrownOnce = { events: [thrown] }

async function servedPage(t: Test, options: ProfilerOptions = {}) {
  const directory = makeFolder()
  const app = await profiledApp(t, { directory, ...options })
  app.get('/page', async () => 'page')
  // Neither has a part in a report.
  app.removeAllContentTypeParsers()
  app.setErrorHandler(() => {
    throw new Error('never called')
  })
  const { token } = await profileOf(app, '/page')
  return { app, directory, token }
}

const post = (app: FastifyInstance, token: string, payload: unknown, changes: InjectOptions = {}) =>
  app.inject({
    method: 'POST',
    url: `/_profiler/${token}/browser`,
    headers: sameOrigin,
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    ...changes,
  })

t.test('an error that a page reports is in its profile, on the logs panel, and in other formats', async t => {
  const { app, token } = await servedPage(t)
  t.equal((await post(app, token, thrownOnce)).statusCode, 204)
  t.same((await app.profiler.find(token))?.browser, [{ ...thrown, time: 12 }])
  t.match(await pageOf(app, `${token}?panel=logs`), /In the browser.*cart is undefined.*uncaught error/s)
  for (const accept of ['application/json', 'text/markdown']) {
    t.match(await pageOf(app, `${token}?panel=logs`, accept), 'cart is undefined')
  }
})

t.test('a failed request that a page reports is a warning or an error, by its status', async t => {
  const { app, token } = await servedPage(t)
  const request = { kind: 'request', message: 'http://localhost/price?token=hunter2secret', time: 1 }
  await post(app, token, { events: [404, 503, null].map(status => ({ ...request, status })) })
  const page = await pageOf(app, `${token}?panel=logs`)
  t.match(page, /warn<.*404 http:.*error<.*503 http:.*error<.*no response http:/s)
  t.notMatch(page, 'hunter2secret')
})

t.test('a page without logs of its own shows what the browser reported', async t => {
  const { app, token } = await servedPage(t)
  await post(app, token, { events: [{ kind: 'rejection', message: 'Error: no stock' }] })
  t.match(await pageOf(app, token), /In the browser<\/dt> <dd><b class="error">1 error/)
})

t.test('a report without a profile is refused', async t => {
  const { app } = await servedPage(t)
  for (const token of ['unknown', 'latest', '..%2f..', 'boot']) {
    t.equal((await post(app, token, thrownOnce)).statusCode, 404, token)
  }
})

t.test('a request that still runs takes reports', async t => {
  const app = await profiledApp(t)
  app.get('/page', async ({ recorder }) => (await post(app, String(recorder?.token), thrownOnce)).statusCode)
  t.equal((await app.inject('/page')).body, '204')
  t.match((await onlyProfile(t, app, '/page')).browser, [{ message: 'cart is undefined' }])
})

t.test('a report that makes no sense is refused', async t => {
  const { app, token } = await servedPage(t)
  for (const body of ['', '{', 'null', '[]', '{"events":1}', '{"events":[null,1,{},{"kind":"other","message":"x"}]}']) {
    t.equal((await post(app, token, body)).statusCode, 400, body)
  }
  const text = { 'sec-fetch-site': 'same-origin', 'content-type': 'text/plain' }
  t.equal((await post(app, token, '{}', { headers: text })).statusCode, 400)
})

t.test('a report is at most 16 kB, and a profile takes at most fifty events', async t => {
  const { app, token } = await servedPage(t)
  t.equal((await post(app, token, { events: [{ ...thrown, message: 'x'.repeat(16_000) }] })).statusCode, 413)
  const many = { events: Array.from({ length: 25 }, () => thrown) }
  for (const status of [204, 204, 429]) t.equal((await post(app, token, many)).statusCode, status)
  t.equal((await app.profiler.find(token))?.browser?.length, 40)
})

t.test('a report with odd numbers keeps its text', async t => {
  const { app, token } = await servedPage(t)
  const odd = { ...thrown, time: -1, status: 1e9, place: 7, stack: '' }
  await post(app, token, { events: [odd] })
  t.same((await app.profiler.find(token))?.browser, [
    { kind: 'error', time: 0, message: 'cart is undefined', place: null, stack: null, status: null },
  ])
})

t.test('hostile strings in a report create no tag, and known secrets are masked', async t => {
  const { app, directory, token } = await servedPage(t, { secrets: ['planted-secret'] })
  const events = hostileStrings.map(text => ({
    kind: 'error',
    message: `planted-secret ${text}`,
    place: text,
    stack: text,
  }))
  for (const event of events) await post(app, token, { events: [event] })
  const page = await pageOf(app, `${token}?panel=logs`)
  t.notMatch(page, /<(?:script>|img|svg onload|h1>gone)/)
  t.notMatch(page, 'planted-secret')
  t.notMatch(readFileSync(join(directory, `browser-${token}.json`), 'utf8'), 'planted-secret')
})

t.test('another process of the same directory reads what a page has reported', async t => {
  const { app, directory, token } = await servedPage(t)
  await post(app, token, thrownOnce)
  const other = await profiledApp(t, { directory })
  t.match((await other.profiler.find(token))?.browser, [{ message: 'cart is undefined' }])
})

t.test('a file of reports that cannot be read is ignored', async t => {
  const { app, directory, token } = await servedPage(t)
  for (const content of ['', '{', 'null', '[1,{"kind":"error"}]']) {
    writeFileSync(join(directory, `browser-${token}.json`), content)
    t.equal((await app.profiler.find(token))?.browser, undefined)
  }
})

t.test('only the newest hundred profiles keep what their pages have reported', async t => {
  const { app, directory, token } = await servedPage(t)
  for (let n = 0; n < 110; n++) {
    const path = join(directory, `browser-old${n}.json`)
    writeFileSync(path, '[]')
    utimesSync(path, n, n)
  }
  await post(app, token, thrownOnce)
  const left = readdirSync(directory).filter(name => name.startsWith('browser-'))
  t.equal(left.length, 100)
  t.ok(left.includes(`browser-${token}.json`) && !left.includes('browser-old0.json'))
})

t.test('a report that cannot be written is refused, and the application goes on', async t => {
  const { app, directory, token } = await servedPage(t)
  mkdirSync(join(directory, `browser-${token}.json`, 'in-the-way'), { recursive: true })
  t.equal((await post(app, token, thrownOnce)).statusCode, 429)
  t.equal((await app.inject('/page')).statusCode, 200)
})
