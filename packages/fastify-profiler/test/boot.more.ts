import t from 'tap'
import { flag, run } from './flagged.ts'
import { makeFolder } from './folder.ts'
import { pageOf, profiledApp } from './profiled-app.ts'

const failing = {
  'whose promise rejects': "app.register(async function broken () { throw new Error('no planted-secret') })",
  'that throws': "app.register(function broken () { throw new Error('no planted-secret') })",
  'that calls back with an error':
    "app.register(function broken (app, options, done) { done(new Error('no planted-secret')) })",
}

for (const [name, code] of Object.entries(failing)) {
  t.test(`a plugin ${name} is named with its masked error, also in another process`, async t => {
    const directory = makeFolder()
    const other = await profiledApp(t, { directory })
    await other.ready()
    const env = { FASTIFY_PROFILER_DIRECTORY: directory, FASTIFY_PROFILER_SECRETS: 'planted-secret' }
    await run(t, `import Fastify from 'fastify'\nconst app = Fastify()\n${code}\nawait app.ready()`, { env })
    t.match((await other.inject('/_profiler/boot')).json(), {
      state: 'failed',
      failures: [{ span: 0, message: 'Error: no [masked]' }],
    })
    const page = await pageOf(other, 'boot')
    t.match(page, /Did not start: &quot;broken&quot; failed.*&quot;broken&quot; failed\..*Error: no \[masked\]/s)
    const found = await pageOf(other, 'boot', 'text/markdown')
    t.match(found, /# Did not start: "broken" failed\n.*- "broken" failed\. Error: no/s)
  })
}

t.test('another process shows a plugin that hangs', async t => {
  const directory = makeFolder()
  const other = await profiledApp(t, { directory })
  await other.ready()
  const code = `import Fastify from 'fastify'
const app = Fastify({ pluginTimeout: 0 })
app.register(async function database () { await new Promise(() => {}) })
app.ready()
setInterval(() => {}, 1000)
process.stderr.write = () => setImmediate(() => process.kill(process.pid, 'SIGKILL'))`
  await run(t, code, { env: { FASTIFY_PROFILER_DIRECTORY: directory } })
  const page = await pageOf(other, 'boot')
  t.match(page, /Not ready after .*: &quot;database&quot; has not ended.*has not ended after.*No query/s)
  const found = await pageOf(other, 'boot', 'text/markdown')
  t.match(found, /Not ready after.*"database" has not ended\n.*- "database" has not ended after .*\. No query/s)
})

const forever = 'await new Promise(() => {})'
const asPlugin = "await app.register((await import('fastify-profiler')).default)\n"

for (const [name, code, named, flags] of [
  ['an async plugin', `app.register(async function database () { ${forever} })`, 'plugin "database"', flag],
  [
    'an async plugin of an application without the flag',
    `${asPlugin}app.register(async function database () { ${forever} })`,
    'plugin "database"',
    [],
  ],
  ['a plugin that never calls done', 'app.register(function stuck (app, options, done) {})', 'plugin "stuck"', flag],
  [
    'an onReady hook',
    `app.addHook('onReady', async function warmCache () { ${forever} })`,
    'onReady hook "warmCache"',
    flag,
  ],
] as const) {
  t.test(`${name} that hangs is named on stderr, and in the boot`, async t => {
    const application = `import Fastify from 'fastify'
import { readFileSync } from 'node:fs'
const write = process.stderr.write
process.stderr.write = function (...args) {
  tell(JSON.parse(readFileSync('.profiler/boot.json', 'utf8')))
  setImmediate(process.exit)
  return write.apply(this, args)
}
const app = Fastify({ pluginTimeout: 4000 })
${code}
await app.ready()`
    const { told, errors } = await run(t, application, { flags })
    t.match(errors, [`fastify-profiler: The ${named} (app.mjs:`])
    t.match(errors[0], /has not ended after .*No query or request of it is open\. It may still be loading/)
    t.match(told, [{ state: 'stuck', spans: [{ outcome: 'unfinished' }] }])
  })
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
const app = Fastify({ pluginTimeout: 6000 })
app.register(async function outer (app) {
  await app.register(async function prices () { await fetch('http://127.0.0.1:' + server.address().port + '/list') })
})
await app.ready().catch(() => {})
process.exit()`,
  )
  t.match(errors[0], /plugin "prices".*It waits for GET 127\.0\.0\.1:\d+\/list \(.* so far\)/)
})
