import { createServer } from 'node:http'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import type { FastifyInstance } from 'fastify'
import type { Boot } from '../base/boot.ts'
import { currentRecorder } from '../index.ts'
import { stuckSentence } from '../show/parts/boot-sentence.ts'
import { servePostgres } from './drivers/postgres-server.ts'
import { flag, run } from './flagged.ts'
import { makeFolder } from './folder.ts'
import { deferred, onlyProfile, profiledApp } from './profiled-app.ts'
import { hostileStrings } from './views/hostile-profile.ts'

async function bootPage(app: FastifyInstance, accept: string, query = ''): Promise<string> {
  return (await app.inject({ url: `/_profiler/boot${query}`, headers: { accept } })).body
}

async function bootOf(app: FastifyInstance): Promise<Boot> {
  return JSON.parse(await bootPage(app, 'application/json'))
}

/** The names of a start's spans, each below the one that it is part of. */
function outlineOf({ spans }: Boot): string[] {
  const depthOf = (parent: number | null): number => (parent === null ? 0 : 1 + depthOf(spans[parent]?.parent ?? null))
  return spans.map(({ name, parent, kind }) => `${'·'.repeat(depthOf(parent))}${kind} ${name}`)
}

/** A server that answers after a while. */
async function slowServer(t: Test): Promise<string> {
  const server = createServer((_request, response) => setTimeout(() => response.end('ok'), 20))
  t.teardown(() => server.close())
  await new Promise<void>(resolve => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  return `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}

t.test('the boot shows each plugin and onReady hook with its time and what it waited for', async t => {
  const host = await slowServer(t)
  const app = await profiledApp(t)
  await app.register(async function outer(app) {
    app.register(async function inner() {
      await (await fetch(`http://${host}/settings`)).text()
    })
    await sleep(20)
  })
  app.register(function callback(_app, _options, done) {
    setTimeout(done, 20)
  })
  app.register(function synchronous() {})
  app.addHook('onReady', async function warm() {
    await sleep(20)
  })
  app.addHook('onReady', function called(done) {
    setTimeout(done, 20)
  })
  app.addHook('onReady', function plain() {})
  await app.ready()
  const boot = await bootOf(app)
  t.same(outlineOf(boot), [
    'plugin outer',
    '·plugin inner',
    `··http GET ${host}/settings`,
    'plugin callback',
    'plugin synchronous',
    'hook warm',
    'hook called',
    'hook plain',
  ])
  t.equal(boot.state, 'ready')
  t.match(await bootPage(app, 'text/markdown'), '| · inner |')
  for (const name of ['outer', 'inner', 'callback', 'warm', 'called']) {
    t.ok(Number(boot.spans.find(span => span.name === name)?.duration) >= 10, name)
  }
  t.ok(boot.spans.every(({ outcome }) => outcome === 'continued'))
  t.match(boot.spans[0]?.location, { file: /boot\.test\.ts$/, line: Number })
  t.match(boot.versions, { fastify: app.version, node: process.version.slice(1) })
})

t.test('the boot is a page, Markdown and JSON, linked from every page and from the configuration', async t => {
  const began = performance.now()
  const app = await profiledApp(t)
  app.register(async function slow() {
    // Longer than all that came before, so that it is named on a busy machine, too.
    await sleep(30 + 2 * (performance.now() - began))
  })
  app.get('/', async () => 'ok')
  await app.inject('/')
  t.match(
    await bootPage(app, 'text/html'),
    /Ready after .*: &quot;slow&quot; took .*Where .* went.*Slowest five.*of the start.*Plugins.*Versions/s,
  )
  t.match(await bootPage(app, 'text/html', '?fold=9999'), '1 plugin')
  t.match(await bootPage(app, 'text/markdown'), /^# Ready after .*\| slow \|/s)
  const home = await app.inject({ url: '/_profiler/', headers: { accept: 'text/html' } })
  t.match(home.body, 'href="/_profiler/boot"')
  const panel = await app.inject({ url: '/_profiler/latest?panel=configuration', headers: { accept: 'text/html' } })
  t.match(panel.body, /href="\/_profiler\/boot">How the application started/)
})

t.test('an application without plugins has a boot that says so', async t => {
  const app = await profiledApp(t)
  t.match(await bootPage(app, 'text/html'), /Ready after .*No plugin was registered/s)
  t.match(await bootPage(app, 'text/markdown'), '# Ready after')
})

t.test('a restart replaces the boot, and another process of the same directory reads it', async t => {
  const directory = makeFolder(t)
  const first = await profiledApp(t, { directory })
  first.register(async function old() {})
  await first.ready()
  const second = await profiledApp(t, { directory })
  second.register(async function fresh() {})
  await second.ready()
  t.same(outlineOf(await bootOf(first)), ['plugin fresh'])
})

t.test('a boot that is not stored or cannot be read is missing', async t => {
  const directory = makeFolder(t)
  const app = await profiledApp(t, { directory })
  await app.ready()
  for (const content of ['', '{', 'null', '{"version":0,"spans":[]}']) {
    writeFileSync(join(directory, 'boot.json'), content)
    t.equal((await app.inject('/_profiler/boot')).statusCode, 404, content)
  }
})

t.test('the boot can be looked at before it is over', async t => {
  const app = await profiledApp(t)
  const { promise, resolve } = deferred()
  let page = ''
  let markdown = ''
  app.addHook('onReady', async function look() {
    const boot = app.profiler.boot
    page = JSON.stringify(boot)
    resolve()
  })
  await app.ready()
  await promise
  markdown = await bootPage(app, 'text/markdown')
  t.match(JSON.parse(page), { state: 'starting', spans: [{ name: 'look', outcome: 'unfinished' }] })
  t.match(markdown, 'Ready after')
})

const failing = {
  'whose promise rejects': "app.register(async function broken () { throw new Error('no planted-secret') })",
  'that throws': "app.register(function broken () { throw new Error('no planted-secret') })",
  'that calls back with an error':
    "app.register(function broken (app, options, done) { done(new Error('no planted-secret')) })",
}

for (const [name, code] of Object.entries(failing)) {
  t.test(`a plugin ${name} is named with its masked error, also in another process`, async t => {
    const directory = makeFolder(t)
    const other = await profiledApp(t, { directory })
    await other.ready()
    const env = { FASTIFY_PROFILER_DIRECTORY: directory, FASTIFY_PROFILER_SECRETS: 'planted-secret' }
    await run(t, `import Fastify from 'fastify'\nconst app = Fastify()\n${code}\nawait app.ready()`, { env })
    const boot = await bootOf(other)
    t.match(boot, { state: 'failed', failures: [{ span: 0, message: 'Error: no [masked]' }] })
    t.match(
      await bootPage(other, 'text/html'),
      /Did not start: &quot;broken&quot; failed.*&quot;broken&quot; failed\..*Error: no \[masked\]/s,
    )
    t.match(await bootPage(other, 'text/markdown'), /# Did not start: "broken" failed.*broken failed: Error/s)
  })
}

t.test('another process shows a plugin that hangs', async t => {
  const directory = makeFolder(t)
  const other = await profiledApp(t, { directory })
  await other.ready()
  const code = `import Fastify from 'fastify'
const app = Fastify({ pluginTimeout: 0 })
app.register(async function database () { await new Promise(() => {}) })
app.ready()
setInterval(() => {}, 1000)
process.stderr.write = () => setImmediate(() => process.kill(process.pid, 'SIGKILL'))`
  await run(t, code, { env: { FASTIFY_PROFILER_DIRECTORY: directory } })
  t.match(
    await bootPage(other, 'text/html'),
    /Not ready after .*: &quot;database&quot; has not ended.*has not ended after.*No query/s,
  )
  t.match(
    await bootPage(other, 'text/markdown'),
    /Not ready after.*"database" has not ended.*database has not ended\. No query/s,
  )
})

t.test('work that goes on after the start is not recorded', async t => {
  const host = await slowServer(t)
  const app = await profiledApp(t)
  const { promise, resolve } = deferred()
  let later: unknown = 'unset'
  app.get('/early', async () => 'early')
  app.addHook('onReady', async function begin() {
    t.not(currentRecorder(), undefined)
    setTimeout(() => {
      later = currentRecorder()
      void fetch(`http://${host}/later`).then(() => resolve())
    }, 30)
  })
  await app.ready()
  await promise
  t.equal(later, undefined)
  t.same(outlineOf(await bootOf(app)), ['hook begin'])
})

t.test('a request that a plugin makes while it loads has no parent', async t => {
  const other = await profiledApp(t)
  other.get('/early', async () => 'early')
  await other.ready()
  const app = await profiledApp(t)
  app.register(async function asks() {
    await other.inject('/early')
  })
  await app.ready()
  t.equal((await onlyProfile(t, other, '/early')).parent, null)
})

t.test('only the first five hundred plugins and hooks are recorded', async t => {
  const app = await profiledApp(t)
  for (let n = 0; n < 509; n++) app.register(async () => {})
  app.addHook('onReady', async () => {})
  await app.ready()
  const boot = await bootOf(app)
  t.same([boot.state, boot.spans.length, boot.dropped], ['ready', 500, 10])
  t.match(await bootPage(app, 'text/html'), '10 calls')
  t.match(await bootPage(app, 'text/markdown'), 'Left out: 10')
})

t.test('hostile names and errors create no tag on the page of the boot', async t => {
  const app = await profiledApp(t)
  for (const text of hostileStrings) {
    app.register(Object.assign(async () => {}, { [Symbol.for('fastify.display-name')]: text }))
  }
  await app.ready()
  const page = await bootPage(app, 'text/html')
  t.notMatch(page, /<(?:script>|img|svg onload|h1>gone)/)
  t.notMatch(page, '\0')
  t.equal((await bootPage(app, 'text/markdown')).match(/^#/gm)?.length, 1)
})

const hanging = {
  'an async plugin': ['app.register(async function database () { await new Promise(() => {}) })', 'plugin "database"'],
  'a plugin that never calls done': ['app.register(function stuck (app, options, done) {})', 'plugin "stuck"'],
  'an onReady hook': [
    "app.addHook('onReady', async function warmCache () { await new Promise(() => {}) })",
    'onReady hook "warmCache"',
  ],
}

for (const [name, [code = '', named = '']] of Object.entries(hanging)) {
  for (const how of ['under the flag', 'as a plugin'] as const) {
    t.test(`${name} that hangs is named on stderr, and in the boot, ${how}`, async t => {
      const head = `import Fastify from 'fastify'
import { readFileSync } from 'node:fs'
const write = process.stderr.write
process.stderr.write = function (...args) {
  tell(JSON.parse(readFileSync('.profiler/boot.json', 'utf8')))
  setImmediate(process.exit)
  return write.apply(this, args)
}
const app = Fastify({ pluginTimeout: 2000 })
`
      const plugin = how === 'as a plugin' ? "await app.register((await import('fastify-profiler')).default)\n" : ''
      const tail = '\nawait app.ready()'
      const flags = how === 'as a plugin' ? [] : flag
      const { told, errors } = await run(t, head + plugin + code + tail, { flags })
      t.match(errors, [`fastify-profiler: The ${named} (app.mjs:`])
      t.match(errors[0], /has not ended after .*No query or request of it is open/)
      t.match(told, [{ state: 'stuck', spans: [{ outcome: 'unfinished' }] }])
    })
  }
}

t.test('the rejection of an onReady hook that takes a callback stays unhandled', async t => {
  const { told } = await run(
    t,
    `import Fastify from 'fastify'
const app = Fastify()
process.on('unhandledRejection', ({ message }) => tell(message))
app.addHook('onReady', function both (done) {
  setImmediate(done)
  return Promise.reject(new Error('nobody waits for it'))
})
await app.ready()`,
  )
  t.strictSame(told, ['nobody waits for it'])
})

t.test('a plugin that hangs in a request is told with that request', async t => {
  const { errors } = await run(
    t,
    `import Fastify from 'fastify'
import { createServer } from 'node:http'
const server = createServer(() => {}).listen(0, '127.0.0.1')
await once(server, 'listening')
const app = Fastify({ pluginTimeout: 2000 })
app.register(async function outer (app) {
  await app.register(async function prices () { await fetch('http://127.0.0.1:' + server.address().port + '/list') })
})
await app.ready().catch(() => {})
process.exit()`,
  )
  t.match(errors[0], /plugin "prices".*It waits for GET 127\.0\.0\.1:\d+\/list \(.* so far\)/)
})

t.test('a start that is given up is kept as failed, with the plugin that hung', async t => {
  const app = await profiledApp(t, {}, { pluginTimeout: 400 })
  const { promise, resolve } = deferred()
  app.register(async function forgotten() {
    await promise
    throw new Error('too late')
  })
  await t.rejects(async () => app.ready())
  t.match(app.profiler.boot, { state: 'stuck', spans: [{ name: 'forgotten', outcome: 'unfinished' }] })
  await app.close().catch(() => {})
  resolve()
  await sleep(0)
  t.match(app.profiler.boot, { state: 'failed', spans: [{ name: 'forgotten', outcome: 'unfinished' }] })
})

t.test('without a limit of Fastify, a plugin that calls back twice ends once', async t => {
  const app = await profiledApp(t, {}, { pluginTimeout: 0 })
  app.register(function twice(_app, _options, done) {
    done()
    done()
  })
  await app.ready()
  t.match(await bootOf(app), { state: 'ready', spans: [{ name: 'twice', outcome: 'continued' }] })
})

t.test('secrets that a plugin learns are masked in what it called', async t => {
  const app = await profiledApp(t)
  app.register(async function signs() {
    currentRecorder()?.secrets.add('learnt-secret')
    currentRecorder()?.record({ kind: 'other', name: 'sign with learnt-secret' }, 0)
  })
  await app.ready()
  t.same(outlineOf(await bootOf(app)), ['plugin signs', '·other sign with [masked]'])
})

t.test('a start without places and plugins is shown', async t => {
  const directory = makeFolder(t)
  const app = await profiledApp(t, { directory })
  app.register(async function placed() {})
  await app.ready()
  const boot = await bootOf(app)
  const write = (changes: Partial<Boot>) =>
    writeFileSync(join(directory, 'boot.json'), JSON.stringify({ ...boot, ...changes }))
  const spans = boot.spans.map(span => ({ ...span, location: null, outcome: 'unfinished' as const }))
  write({ state: 'stuck', spans })
  t.match(await bootPage(app, 'text/html'), '&quot;placed&quot; has not ended')
  t.match(await bootPage(app, 'text/markdown'), '| placed, unfinished |')
  t.match(stuckSentence({ ...boot, spans }, '/'), /^The plugin "placed" has not ended after/)
  write({ state: 'failed', spans: [] })
  t.match(await bootPage(app, 'text/html'), 'Did not start: no plugin runs')
})

t.test('a request that a plugin makes in the callback of a query has no parent', async t => {
  const port = await servePostgres(t)
  const other = await profiledApp(t)
  other.get('/early', async () => 'early')
  await other.ready()
  const app = await profiledApp(t)
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'tester' })
  t.teardown(() => client.end())
  await client.connect()
  app.register(function asks(_app, _options, done) {
    client.query('select 1', () => {
      other.inject('/early', () => done())
    })
  })
  await app.ready()
  t.equal((await onlyProfile(t, other, '/early')).parent, null)
  t.match(outlineOf(await bootOf(app)), ['plugin asks', '·query select'])
})
