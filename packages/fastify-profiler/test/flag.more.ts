import { cpSync, existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { transformSync } from 'esbuild'
import t from 'tap'
import { type Profile } from '../core/profile.ts'
import { flag, installedPackage, outline, run } from './flagged.ts'
import { makeFolder } from './folder.ts'

/** An application in the style of a beginner's guide. */
const application = `
import Fastify from 'fastify'
const app = Fastify({ logger: { level: 'info', base: null } })
app.addHook('onRequest', async function authenticate () {})
app.addHook('preHandler', function load (request, reply, done) { setImmediate(done) })
app.get('/', async function greet (request) {
  request.log.debug('hidden')
  app.log.trace('hidden, too')
  request.log.warn('shown')
  return { level: request.log.level, isDebugging: request.log.isLevelEnabled('debug') }
})
await app.listen({ port: 0, host: '127.0.0.1' })
const origin = app.listeningOrigin
const greeted = await get(origin, '/')
const rejected = await get(origin, '/%zz')
tell({ origin, bodies: [greeted.body, rejected.body], links: greeted.headers['x-debug-token-link'] })
if (greeted.headers['x-debug-token-link']) for (const answer of [greeted, rejected]) tell(await profileOf(answer))
await app.close()
`

t.test('an application is profiled by one flag: all hooks, log lines of every level and malformed URLs', async t => {
  const bare = await run(t, application, { flags: [] })
  const flagged = await run(t, application)
  const [{ origin, bodies }, greeted, rejected] = flagged.told
  t.same(bodies, bare.told[0].bodies)
  t.match(outline(greeted), {
    status: 200,
    hooks: ['authenticate', 'load'],
    handlers: ['greet'],
    lines: ['incoming request', 'hidden', 'hidden, too', 'shown', 'request completed'],
    notes: [],
  })
  t.match(outline(rejected), {
    status: 400,
    exceptions: ["FST_ERR_BAD_URL '/%zz' is not a valid url component"],
    notes: [],
  })
  const messages = (lines: string[]) => lines.map(line => JSON.parse(line)).map(({ level, msg }) => `${level} ${msg}`)
  const port = /:\d+/
  const found = messages(flagged.lines).map(line => line.replace(port, ''))
  t.same(
    found,
    messages(bare.lines).map(line => line.replace(port, '')),
    'the log is the same',
  )
  t.same(flagged.errors, [`fastify-profiler: http://localhost:${new URL(origin).port}/_profiler/`])
  t.same([bare.errors, bare.code, flagged.code], [[], 0, 0])
})

/** Answers one request and tells its profile. */
const once = `
app.get('/', async function greet ({ log }) { log.info('greeted'); return 'hello' })
await app.listen({ port: 0, host: '127.0.0.1' })
const answer = await get(app.listeningOrigin, '/')
tell({ headers: Object.keys(answer.headers).filter(name => name.startsWith('x-')), body: answer.body })
if (answer.headers['x-debug-token']) tell(await profileOf(answer))
await app.close()
`

const simple = `import Fastify from 'fastify'\nconst app = Fastify()\n${once}`

t.test('in production nothing is profiled, and one sentence says how to change that', async t => {
  const env = { NODE_ENV: 'production' }
  const { told, errors, code } = await run(t, simple, { env })
  t.same(told, [{ headers: [], body: 'hello' }])
  t.same(errors, [
    'fastify-profiler: Profiling is off because NODE_ENV is production. ' +
      'To turn it on, list the addresses that may see profiles in FASTIFY_PROFILER_ALLOW.',
  ])
  t.equal(code, 0)
  const allowed = await run(t, simple, { env: { ...env, FASTIFY_PROFILER_ALLOW: '127.0.0.1' } })
  t.equal(outline(allowed.told[1]).status, 200)
  const files = { 'package.json': '{ "fastify-profiler": { "allow": ["127.0.0.1"] } }' }
  t.equal((await run(t, simple, { env, files })).told.length, 1, 'only the environment of a production can allow it')
  const blank = { NODE_ENV: ' PRODUCTION', FASTIFY_PROFILER_ALLOW: ' , ' }
  t.equal((await run(t, simple, { env: blank })).told.length, 1, 'a list without addresses does not')
})

t.test('options come from package.json and from the environment, which wins', async t => {
  const files = {
    'package.json': JSON.stringify({
      'fastify-profiler': { base: '/_package', patience: 5, storeBounds: { profiles: 8 }, secrets: ['blue whale'] },
    }),
  }
  const env = {
    FASTIFY_PROFILER_BASE: '/_environment',
    FASTIFY_PROFILER_DIRECTORY: 'kept/here',
    FASTIFY_PROFILER_PROFILE_BOUNDS_LOGS: '1',
    FASTIFY_PROFILER_TRUSTED_HOSTS: 'one.test, two.test',
    FASTIFY_PROFILER_LINK_ORIGIN: 'https://linked.test',
    FASTIFY_PROFILER_EDITOR_URL: 'edit://{file}:{line}',
    FASTIFY_PROFILER_ROOT: '/elsewhere',
    FASTIFY_PROFILER_PATIENCE: '',
  }
  const source = `import Fastify from 'fastify'
import { existsSync } from 'node:fs'
const app = Fastify({ logger: { stream: { write () {} } } })
app.get('/', async () => 'blue whale')
await app.listen({ port: 0, host: '127.0.0.1' })
for (let count = 0; count < 20; count++) await get(app.listeningOrigin, '/?blue%20whale')
const { headers } = await get(app.listeningOrigin, '/')
tell(headers['x-debug-token-link'])
const pages = await app.inject({ url: '/_environment/', headers: { host: 'two.test' } })
tell([pages.statusCode, pages.json().total, (await app.inject({ url: '/_environment/', headers: { host: 'three.test' } })).statusCode])
tell([pages.body.includes('blue'), existsSync('kept/here/.gitignore'), existsSync('.profiler')])
tell((await app.inject('/_environment/latest')).json())
await app.close()`
  const { told, errors } = await run(t, source, { files, env })
  const [link, found, kept, latest] = told
  t.match(link, /^https:\/\/linked\.test\/_environment\/[\w-]+$/)
  t.same(found, [200, 8, 403])
  t.same(kept, [false, true, false])
  t.match(latest, { logs: [{}], dropped: [{ what: 'logs', count: 1 }] })
  t.same(errors, ['fastify-profiler: https://linked.test/_environment/'])
})

t.test('an application does not start with a senseless option, and one sentence says why', async t => {
  const { told, errors, code } = await run(t, simple, { env: { FASTIFY_PROFILER_BASE: 'profiler' } })
  t.same([told, errors.length, code], [[], 1, 1])
  t.match(
    errors[0],
    /^fastify-profiler: The application does not start: .* must be a path such as "\/_profiler", not "/,
  )
})

t.test('a package.json that cannot be read is told by its name', async t => {
  // Node reads the one of the application, but not that of the working directory.
  const files = { 'package.json': '{ "fastify-profiler": ', 'below/package.json': '{}' }
  const flags = ['--import', join(installedPackage, 'dist/register.js')]
  const { errors, code } = await run(t, simple, { files, flags, file: 'below/app.mjs' })
  t.match(errors[0], /^fastify-profiler: The application does not start: .*package\.json cannot be read: SyntaxError: /)
  t.equal(code, 1)
})

t.test('a process without an application is not told about its options', async t => {
  const { errors, code } = await run(t, '', { env: { FASTIFY_PROFILER_BASE: 'nonsense' } })
  t.same([errors, code], [[], 0])
})

t.test('an application that also registers the profiler is profiled once, and one line says so', async t => {
  const source = `import Fastify from 'fastify'
import profiler, { currentRecorder } from 'fastify-profiler'
const lines = []
const app = Fastify({ logger: { level: 'warn', stream: { write (line) { lines.push(JSON.parse(line).msg) } } } })
await app.register(profiler, { base: '/_other' })
app.register(async scope => { await scope.register(profiler) })
app.get('/', async function greet (request) { return { same: request.recorder === currentRecorder() } })
const { headers, body } = await app.inject('/')
await app.profiler.settled()
tell([body, headers['x-debug-token'] === (await app.profiler.find('latest')).token, lines])
await app.close()`
  const { told, errors, code } = await run(t, source)
  const [[body, isFound, lines]] = told
  t.same(JSON.parse(body), { same: true })
  t.ok(isFound)
  t.equal(lines.length, 2)
  t.match(lines[0], /^fastify-profiler [\d.]+ already watches this application.* options are ignored: base\. Keep/)
  t.match(lines[1], /^fastify-profiler [\d.]+ already watches this application.* adds nothing\. Keep/)
  t.same([errors, code], [[], 0])
})

/** Copies the package to a folder below the repository, where the copy finds its dependencies. */
function copyPackage(folder: string): string {
  for (const name of ['dist', 'core/view/assets', 'features', 'package.json']) {
    cpSync(join(installedPackage, name), join(folder, name), { recursive: true })
  }
  return folder
}

t.test('of two copies of the profiler one watches, and the other says so', async t => {
  const copy = copyPackage(t.testdir())
  const flags = ['--import', join(copy, 'dist/register.js'), ...flag]
  const { told, errors, code } = await run(t, simple, { flags })
  t.equal(told.length, 2)
  t.same(outline(told[1]).handlers, ['greet'])
  t.match(errors[0], /^fastify-profiler: Another copy of the profiler, [\d.]+, watches the application already\.$/)
  t.match(errors[1], /^fastify-profiler: http:/)
  t.same([errors.length, code], [2, 0])
})

t.test('with two copies of the profiler, rejections that nobody handles end the process as without', async t => {
  const copy = copyPackage(t.testdir())
  const source = `import Fastify from 'fastify'
import profiler from 'fastify-profiler'
import other from '${copy}/dist/index.js'
await Fastify().register(profiler)
await Fastify().register(other)
const handle = ({ message }) => tell(message)
process.on('unhandledRejection', handle)
Promise.reject(new Error('handled'))
await new Promise(resolve => setImmediate(resolve))
process.off('unhandledRejection', handle)
tell(process.listenerCount('unhandledRejection'))
Promise.reject(new Error('nobody handles this'))`
  const { told, errors, code } = await run(t, source, { flags: [] })
  t.same(told, ['handled', 0])
  t.match(errors.join('\n'), 'Error: nobody handles this')
  t.equal(code, 1)
})

t.test('an application may decorate requests with any name', async t => {
  const source = `import Fastify from 'fastify'
const app = Fastify()
app.decorate('profiler', 'mine').decorateRequest('recorder', 'mine, too')
app.get('/own', async request => [app.profiler, request.recorder])
tell((await app.inject('/own')).json())
await app.close()`
  const { told, errors } = await run(t, source)
  t.same(told, [['mine', 'mine, too']])
  t.same(errors, [])
})

t.test('a directory that cannot be written is told once, and profiles are kept in memory', async t => {
  const source = `import Fastify from 'fastify'
const apps = Array.from({ length: 3 }, () => Fastify().get('/', async () => 'hello'))
for (const app of apps) {
  const { body, headers } = await app.inject('/')
  tell([body, (await app.inject('/_profiler/' + headers['x-debug-token'])).statusCode])
}
for (const app of apps) await app.close()`
  const files = { file: 'no directory' }
  const { told, errors, code } = await run(t, source, { files, env: { FASTIFY_PROFILER_DIRECTORY: 'file/below' } })
  t.same(told, Array(3).fill(['hello', 200]))
  t.match(errors, [
    /^fastify-profiler: The profiler cannot write profiles, and keeps only the newest in memory: ENOTDIR/,
    /^fastify-profiler: The profiler cannot read its directory: ENOTDIR/,
  ])
  t.equal(errors.length, 2)
  t.equal(code, 0)
})

t.test('a hundred applications in one process are profiled, each with its own requests', async t => {
  const source = `import Fastify from 'fastify'
import { readdirSync } from 'node:fs'
const apps = Array.from({ length: 100 }, (_, number) => Fastify().get('/:number', async () => number))
await Promise.all(apps.map(app => app.listen({ port: 0, host: '127.0.0.1' })))
const answers = await Promise.all(apps.map((app, number) => get(app.listeningOrigin, '/' + number)))
const profiles = await Promise.all(answers.map(profileOf))
tell(profiles.map(({ url, spans }) => [url, spans.length]))
await Promise.all(apps.map(app => app.close()))
tell(readdirSync('.profiler').filter(name => name.startsWith('profiles')).length)`
  const { told, errors, code } = await run(t, source)
  const [profiles, segments] = told
  t.same(
    profiles,
    Array.from({ length: 100 }, (_, number) => [`/${number}`, 1]),
  )
  t.ok(segments <= 2, 'they share one store')
  t.equal(new Set(errors).size, 100)
  t.equal(code, 0)
})

t.test('workers of a cluster and worker threads are profiled, and one tells the address', async t => {
  const clustered = `import cluster from 'node:cluster'
import Fastify from 'fastify'
if (cluster.isPrimary) {
  const workers = [cluster.fork(), cluster.fork()]
  for (const worker of workers) worker.on('message', tell)
  await Promise.all(workers.map(worker => once(worker, 'exit')))
} else {
  const app = Fastify()
  app.get('/', async () => cluster.worker.id)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { headers } = await app.inject('/')
  tell((await app.inject('/_profiler/' + headers['x-debug-token'])).json())
  await app.close()
  process.disconnect()
}`
  const cluster = await run(t, clustered)
  const statuses = cluster.told.map(({ status }) => status)
  t.same(statuses, [200, 200])
  t.equal(cluster.errors.length, 1)
  t.equal(cluster.code, 0)

  const threaded = `import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { fileURLToPath } from 'node:url'
import Fastify from 'fastify'
if (isMainThread) {
  const worker = new Worker(fileURLToPath(import.meta.url))
  tell((await once(worker, 'message'))[0])
  await once(worker, 'exit')
} else {
  const app = Fastify()
  app.get('/', async function greet () { return 'hello' })
  await app.listen({ port: 0, host: '127.0.0.1' })
  parentPort.postMessage(await profileOf(await get(app.listeningOrigin, '/')))
  await app.close()
}`
  const thread = await run(t, threaded)
  t.same(outline(thread.told[0]).handlers, ['greet'])
  t.same([thread.errors.length, thread.code], [1, 0])
})

const lines = ['incoming request', 'greeted', 'request completed']
for (const [name, options, expected, notes] of [
  ['no logger', '{}', [], [/^Fastify logs nothing, since the application was made without a logger/]],
  ['a silent logger', "{ logger: { level: 'silent' } }", lines, []],
  ['levels of its own', "{ logger: { level: 'loud', customLevels: { loud: 5, quiet: 3 } } }", lines, []],
] as const) {
  t.test(`an application with ${name} is profiled, and its profiles say what they lack`, async t => {
    const source = `import Fastify from 'fastify'
const app = Fastify(${options})
${once}`
    const { told } = await run(t, source)
    t.match(outline(told[1]), { lines: expected, notes })
  })
}

t.test('a server on another address, on a socket file or with TLS tells how to reach its pages', async t => {
  const source = `import Fastify from 'fastify'
import { createServer } from 'node:https'
const apps = [Fastify(), Fastify(), Fastify(), Fastify({ serverFactory: handler => createServer(handler) })]
await apps[0].listen({ port: 0, host: '127.0.0.2' })
await apps[1].listen({ path: './own.sock' })
await apps[2].listen({ port: 0, host: '::ffff:127.0.0.2' })
await apps[3].listen({ port: 0, host: '::' })
tell(apps.map(app => app.server.address()))
for (const app of apps) await app.close()`
  const { told, errors } = await run(t, source)
  const [[first, path, mapped, last]] = told
  t.same(errors, [
    `fastify-profiler: http://127.0.0.2:${first.port}/_profiler/`,
    `fastify-profiler: /_profiler/ on ${path}`,
    `fastify-profiler: http://[::ffff:127.0.0.2]:${mapped.port}/_profiler/`,
    `fastify-profiler: https://localhost:${last.port}/_profiler/`,
  ])
})

t.test("the application's function for malformed URLs is called as without the profiler", async t => {
  const source = `import Fastify from 'fastify'
const app = Fastify({
  frameworkErrors: (error, request, reply) => { reply.code(418).send({ code: error.code, id: request.id }) }
})
await app.listen({ port: 0, host: '127.0.0.1' })
const answer = await get(app.listeningOrigin, '/%zz')
tell([answer.status, answer.body])
tell(await profileOf(answer))
await app.close()`
  const { told } = await run(t, source)
  t.same(told[0], [418, '{"code":"FST_ERR_BAD_URL","id":"req-1"}'])
  t.match(outline(told[1]), { status: 418, exceptions: [/FST_ERR_BAD_URL/] })
})

t.test('an application that the profiler cannot watch runs without it, and one sentence says why', async t => {
  const source = `const { channel } = await import('node:diagnostics_channel')
channel('fastify.initialization').publish({ fastify: { version: '5.99.0' } })`
  // Outside all packages.
  const flags = ['--import', join(installedPackage, 'dist/register.js')]
  const { errors, code } = await run(t, source, { flags, files: {}, folder: tmpdir() })
  t.equal(errors.length, 1)
  t.match(errors[0], /^fastify-profiler: An application runs without the profiler: /)
  t.equal(code, 0)
})

t.test('an application that exits deletes its address', async t => {
  const directory = makeFolder()
  const { told, code } = await run(
    t,
    `import { existsSync } from 'node:fs'
import Fastify from 'fastify'
await Fastify().listen({ port: 0, host: '127.0.0.1' })
process.send(existsSync(process.env.FASTIFY_PROFILER_DIRECTORY + '/server.json'), () => process.exit())`,
    { env: { FASTIFY_PROFILER_DIRECTORY: directory } },
  )
  t.same([told, code, existsSync(join(directory, 'server.json'))], [[true], 0, false])
})

for (const [what, flags, sourcefile, comment] of [
  ['though Node has not loaded the map', flag, '../src/routes.ts', ['//# sourceMappingURL=routes.mjs.map\n']],
  // As tsx does, whose map of a file names the file itself.
  ['though Node has mapped its stacks', ['--enable-source-maps', ...flag], 'routes.mjs', []],
] as const) {
  t.test(`compiled code is shown at the lines of its source, ${what}`, async t => {
    const source = `import type { FastifyInstance } from 'fastify'

export default function routes(app: FastifyInstance) {
  app.get('/', async function greet(): Promise<string> {
    throw new Error('closed')
  })
}
`
    const sourcemap = comment.length > 0 || 'inline'
    const { code, map } = transformSync(source, { loader: 'ts', sourcemap, sourcefile })
    const files = {
      'package.json': '{}',
      'dist/routes.mjs': [code, ...comment].join(''),
      'dist/routes.mjs.map': map,
    }
    const { told } = await run(
      t,
      `import Fastify from 'fastify'
import routes from './dist/routes.mjs'
const app = Fastify()
routes(app)
await app.listen({ port: 0, host: '127.0.0.1' })
tell(await profileOf(await get(app.listeningOrigin, '/')))
tell((await get(app.listeningOrigin, '/_profiler/')).body)
await app.close()`,
      { files, flags },
    )
    const [profile, overview]: [Profile, string] = [told[0], told[1]]
    const { location } = profile?.spans.find(({ name }) => name === 'greet') ?? {}
    t.match([location?.file, location?.line], [/routes\.(?:ts|mjs)$/, 4])
    t.match(profile?.exceptions[0]?.frames[0], { file: location?.file, line: 5 })
    t.match(overview, /routes\.(?:ts|mjs):5/)
    t.notMatch(overview, /routes\.(?:ts|mjs):7/)
  })
}
