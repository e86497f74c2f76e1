import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import t, { type Test } from 'tap'
import type { FastifyInstance } from 'fastify'
import { currentRecorder } from '../index.ts'
import { type Boot, newestBoot } from '../features/boot/boot-log.ts'
import { servePostgres } from './drivers/postgres-server.ts'
import { standInService } from './drivers/stand-in-server.ts'
import { fakeClock, fakeTimers } from './fake-clock.ts'
import { makeFolder } from './folder.ts'
import { deferred, onlyProfile, pageOf, profiledApp, turns } from './profiled-app.ts'
import { hostileStrings } from './views/hostile-profile.ts'

async function bootOf(app: FastifyInstance): Promise<Boot> {
  return (await app.inject('/_profiler/boot')).json()
}

/** The names of a start's spans, each below the one that it is part of. */
function outlineOf({ spans }: Boot): string[] {
  const depthOf = (parent: number | null): number => (parent === null ? 0 : 1 + depthOf(spans[parent]?.parent ?? null))
  return spans.map(({ name, parent, kind }) => `${'·'.repeat(depthOf(parent))}${kind} ${name}`)
}

/** A server that answers everything. @returns its origin */
const anyServer = (t: Test) => standInService(t, (_request, response) => response.end('ok'))

t.test('the boot shows each plugin and onReady hook with its time and what it waited for', async t => {
  const service = await anyServer(t)
  const { sleep } = fakeClock(t)
  const app = await profiledApp(t)
  await app.register(async function outer(app) {
    app.register(async function inner() {
      await (await fetch(`${service}/settings`)).text()
      await sleep(21)
    })
    await sleep(20)
  })
  app.register(function callback(_app, _options, done) {
    void sleep(22).then(() => done())
  })
  app.register(function synchronous() {})
  app.addHook('onReady', async function warm() {
    await sleep(23)
  })
  app.addHook('onReady', function called(done) {
    void sleep(24).then(() => done())
  })
  app.addHook('onReady', function plain() {})
  await app.ready()
  const boot = await bootOf(app)
  t.same(outlineOf(boot), [
    'plugin outer',
    '·plugin inner',
    `··http GET ${new URL(service).host}/settings`,
    'plugin callback',
    'plugin synchronous',
    'hook warm',
    'hook called',
    'hook plain',
  ])
  t.equal(boot.state, 'ready')
  t.match(await pageOf(app, 'boot', 'text/markdown'), '| · inner |')
  const durations = boot.spans.map(({ duration }) => duration)
  t.same(durations, [20, 21, 0, 22, 0, 23, 24, 0])
  t.ok(boot.spans.every(({ outcome }) => outcome === 'continued'))
  t.match(boot.spans[0]?.location, { file: /boot\.test\.ts$/, line: Number })
  t.match(boot.versions, { fastify: app.version, node: process.version.slice(1) })
})

t.test('the boot is a page, Markdown and JSON, linked from every page and from the configuration', async t => {
  const { sleep } = fakeClock(t)
  const app = await profiledApp(t)
  app.register(async function slow() {
    await sleep(1000)
  })
  app.get('/', async () => 'ok')
  await app.inject('/')
  t.match(
    await pageOf(app, 'boot'),
    /Ready after .*: &quot;slow&quot; took .*Where .* went.*Slowest five.*since Fastify.*Plugins.*Versions/s,
  )
  t.match(await pageOf(app, 'boot?fold=9999'), '1 plugin')
  t.match(await pageOf(app, 'boot', 'text/markdown'), /^# Ready after .*\| slow \|/s)
  t.match(await pageOf(app, ''), 'href="/_profiler/boot"')
  t.match(await pageOf(app, 'latest?panel=configuration'), /href="\/_profiler\/boot">How the application started/)
})

t.test("the boot tells the profiler's own part of the time that belongs to no plugin", async t => {
  const app = await profiledApp(t)
  app.register(async function plugin() {})
  await app.ready()
  const { duration, own = 0 } = await bootOf(app)
  t.ok(own > 0 && own <= duration, `${own} of ${duration} ms`)
  t.match(await pageOf(app, 'boot'), /Profiler’s own.*[\d.]+ ms.*Unaccounted .*and the profiler’s own time/s)
  t.match(await pageOf(app, 'boot', 'text/markdown'), /Profiler’s own: [\d.]+ ms/i)
})

t.test('an application without plugins has a boot that says so', async t => {
  const app = await profiledApp(t)
  t.match(await pageOf(app, 'boot'), /Ready after .*No plugin was registered/s)
  t.match(await pageOf(app, 'boot', 'text/markdown'), '# Ready after')
})

t.test('a restart replaces the boot, and another process of the same directory reads it', async t => {
  const directory = makeFolder()
  const first = await profiledApp(t, { directory })
  first.register(async function old() {})
  await first.ready()
  const second = await profiledApp(t, { directory })
  second.register(async function fresh() {})
  await second.ready()
  t.same(outlineOf(await bootOf(first)), ['plugin fresh'])
})

t.test('a boot that is not stored or cannot be read is missing', async t => {
  const directory = makeFolder()
  const app = await profiledApp(t, { directory })
  await app.ready()
  for (const content of ['', '{', 'null', '{"version":0,"spans":[]}']) {
    writeFileSync(join(directory, 'boot.json'), content)
    t.equal((await app.inject('/_profiler/boot')).statusCode, 404, content)
  }
})

t.test('work that goes on after the start is not recorded', async t => {
  const service = await anyServer(t)
  const app = await profiledApp(t)
  const [started, asked] = [deferred(), deferred()]
  let later: unknown = 'unset'
  app.addHook('onReady', async function begin() {
    t.not(currentRecorder(), undefined)
    void started.promise.then(async () => {
      later = currentRecorder()
      await fetch(`${service}/later`)
      asked.resolve()
    })
  })
  await app.ready()
  started.resolve()
  await asked.promise
  t.equal(later, undefined)
  t.same(outlineOf(await bootOf(app)), ['hook begin'])
})

t.test('only the first five hundred plugins and hooks are recorded', async t => {
  const app = await profiledApp(t)
  for (let n = 0; n < 509; n++) app.register(async () => {})
  app.addHook('onReady', async () => {})
  await app.ready()
  const boot = await bootOf(app)
  t.same([boot.state, boot.spans.length, boot.dropped], ['ready', 500, 10])
  t.match(await pageOf(app, 'boot'), '10 calls')
  t.match(await pageOf(app, 'boot', 'text/markdown'), 'Left out: 10')
})

t.test('hostile names and errors create no tag on the page of the boot', async t => {
  const app = await profiledApp(t)
  for (const text of hostileStrings) {
    app.register(Object.assign(async () => {}, { [Symbol.for('fastify.display-name')]: text }))
  }
  await app.ready()
  const page = await pageOf(app, 'boot')
  t.notMatch(page, /<(?:script>|img|svg onload|h1>gone)/)
  t.notMatch(page, '\0')
  t.equal((await pageOf(app, 'boot', 'text/markdown')).match(/^#/gm)?.length, 4)
})

t.test('a start that is given up is kept as failed, with the plugin that hung', async t => {
  // Fastify's own limit is reached when the test says so. The profiler gives the start up after half of it.
  const pluginTimeout = 20
  const pass = fakeTimers(t)
  const app = await profiledApp(t, {}, { pluginTimeout })
  const { promise, resolve } = deferred()
  app.register(async function forgotten() {
    await promise
    throw new Error('too late')
  })
  const ready = t.rejects(async () => app.ready())
  while (newestBoot(app)?.state !== 'stuck' || newestBoot(app)?.spans.length === 0) await turns()
  t.match(newestBoot(app)?.spans, [{ name: 'forgotten', outcome: 'unfinished' }])
  pass(pluginTimeout)
  await ready
  await app.close().catch(() => {})
  resolve()
  await turns(2)
  t.match(newestBoot(app), { state: 'failed', spans: [{ name: 'forgotten', outcome: 'unfinished' }] })
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
