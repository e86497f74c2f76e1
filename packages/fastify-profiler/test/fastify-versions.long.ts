import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { installedPackage, run, type Run } from './flagged.ts'

// Installs versions of Fastify from the registry, the newest patch of each, and compares applications with and without
// the profiler.

const versions = ['5.0.0', '5.2', '5.4', '5.6', '5.8', '5.9', '5.10', '5.11', '5.12.1', '5']

const scratch = mkdtempSync(join(tmpdir(), 'fastify-versions-'))
t.teardown(() => rmSync(scratch, { recursive: true, force: true }))

const plugin = pathToFileURL(join(installedPackage, 'dist/index.js')).href

/** How the profiler gets into an application. */
const ways: Record<string, Run> = {
  'the flag': { flags: ['--import', join(installedPackage, 'dist/register.js')] },
  'the plugin, registered first': { flags: [], env: { FIRST: plugin } },
  'the plugin, registered late': { flags: [], env: { LATE: plugin } },
}

const head = `
import { connect } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import Fastify from 'fastify'
const profile = async (app, plugin) => {
  if (plugin) await app.register((await import(plugin)).default)
}
`

/** Calls hooks of every kind, and tells how often. */
const hooked = `${head}
const kinds = [
  'onRequest', 'preParsing', 'preValidation', 'preHandler', 'preSerialization', 'onSend', 'onResponse', 'onError',
  'onTimeout', 'onRequestAbort', 'onRoute', 'onRegister', 'onReady', 'onListen', 'preClose', 'onClose',
]
const calls = {}
function addHooks (app, place) {
  for (const kind of kinds) {
    const name = place + ' ' + kind
    calls[name] = 0
    const count = () => { calls[name]++ }
    // Fastify counts the parameters of each hook.
    if (kind === 'onRoute' || kind === 'onRegister') app.addHook(kind, count)
    else app.addHook(kind, kind === 'onRequestAbort' ? async request => count() : async () => count())
  }
}
async function until (isDone) {
  const end = Date.now() + 60_000
  while (!isDone()) {
    if (Date.now() > end) throw new Error('It never comes: ' + isDone)
    await turn()
  }
}

const app = Fastify()
await profile(app, process.env.FIRST)
addHooks(app, 'root')
await profile(app, process.env.LATE)
app.get('/', async () => ({ hello: 'world' }))
app.get('/throws', async () => { throw new Error('planted') })
app.get('/hangs', () => new Promise(() => {}))
app.get('/times-out', ({ socket }) => new Promise(() => { socket.setTimeout(1) }))
app.register(async child => {
  addHooks(child, 'child')
  child.post('/', async () => ({ hello: 'child' }))
  child.register(async grandchild => { grandchild.get('/grandchild', async () => ({})) })
}, { prefix: '/child' })
app.after(() => addHooks(app, 'late'))
app.register(async () => {})
await app.listen({ port: 0, host: '127.0.0.1' })

const { port } = app.server.address()
const statuses = []
for (const path of ['/', '/throws', '/child/grandchild', '/none', '/%zz']) {
  statuses.push((await get(app.listeningOrigin, path)).status)
}
statuses.push((await app.inject({ method: 'POST', url: '/child', payload: { asked: true } })).statusCode)
for (const [path, leaves] of [['/hangs', true], ['/times-out', false]]) {
  const handled = calls['root preHandler']
  const aborted = calls['root onRequestAbort']
  const socket = connect(port, '127.0.0.1').resume()
  socket.on('error', () => {})
  socket.write('GET ' + path + ' HTTP/1.1\\r\\nhost: localhost\\r\\n\\r\\n')
  await until(() => calls['root preHandler'] > handled)
  if (leaves) socket.destroy()
  await until(() => calls['root onRequestAbort'] > aborted)
}
await app.close()
tell({ statuses, calls })
`

/** Sends malformed URLs to applications, and tells the answers. */
const rejecting = `${head}
const applications = {
  none () {},
  get (app) { app.get('/', { exposeHeadRoute: false }, async () => 'hello') },
  post (app) { app.post('/', async () => 'hello') },
  named (app) { app.setNotFoundHandler((request, reply) => reply.code(404).send('No ' + request.raw.method)) },
}
for (const [name, build] of Object.entries(applications)) {
  const app = Fastify()
  await profile(app, process.env.FIRST)
  build(app)
  await profile(app, process.env.LATE)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const answers = []
  for (const method of ['GET', 'HEAD', 'POST', 'PUT']) {
    for (const url of ['/%zz', '/%zz?a=b', '/a/%ff/b', '/%20', '/none']) {
      const { statusCode, body, headers } = await app.inject({ method, url })
      answers.push([name, method, url, statusCode, body, headers['content-type']])
    }
  }
  answers.push((await get(app.listeningOrigin, '/%zz')).body)
  tell(answers)
  await app.close()
}
`

/** Tells what a browser gets for an error and for a page. */
const browsed = `${head}
const app = Fastify()
await profile(app, process.env.FIRST)
app.get('/page', (request, reply) => reply.type('text/html').send('<html><body>page</body></html>'))
app.get('/throws', async () => { throw new Error('planted') })
await profile(app, process.env.LATE)
for (const url of ['/page', '/throws']) {
  const { body } = await app.inject({ url, headers: { accept: 'text/html' } })
  tell([body.includes('_profiler'), body.includes('planted')])
}
await app.close()
`

for (const version of versions) {
  const folder = join(scratch, version)
  t.test(`Fastify ${version}`, async t => {
    await promisify(execFile)('npm', ['install', '--prefix', folder, '--no-audit', `fastify@${version}`])
    const bare = await run(t, hooked, { folder, flags: [] })
    t.match(bare, { told: [{ statuses: [200, 500, 200, 404, 400, 200] }], errors: [], code: 0 })
    for (const [way, profiled] of Object.entries(ways)) {
      await t.test(`with ${way}, hooks of every kind are called as often as without the profiler`, async t => {
        const { told, code } = await run(t, hooked, { ...profiled, folder })
        t.same([told, code], [bare.told, bare.code])
      })
    }
    for (const [way, profiled] of Object.entries(ways)) {
      await t.test(`with ${way}, a browser gets the toolbar and the page of an error`, async t => {
        t.same((await run(t, browsed, { ...profiled, folder })).told, [
          [true, false],
          [true, true],
        ])
      })
    }
    const rejected = await run(t, rejecting, { folder, flags: [] })
    t.equal(rejected.told.length, 4)
    for (const [way, profiled] of Object.entries(ways)) {
      await t.test(`with ${way}, malformed URLs are answered as without the profiler`, async t => {
        t.same((await run(t, rejecting, { ...profiled, folder })).told, rejected.told)
      })
    }
  })
}
