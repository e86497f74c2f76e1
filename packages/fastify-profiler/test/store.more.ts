import { spawn, spawnSync, type StdioOptions } from 'node:child_process'
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { makeFolder } from './folder.ts'
import { everythingStored, keptLines, pageOf, profiledApp } from './profiled-app.ts'
import { bytesIn, storeIn, tokensIn, write } from './stores.ts'
import { configuration } from './views/example-profile.ts'

// What needs other processes: those that share a folder, die, limit the size of files, or make pipes.

/** The arguments of a process that runs an application, which is profiled into a folder. */
function programOf(directory: string, code: string): string[] {
  const program = `
    import { writeSync } from 'node:fs'
    import Fastify from 'fastify'
    import profiler from 'fastify-profiler'
    const app = Fastify()
    await app.register(profiler, { directory: process.argv[1] })
    ${code}
  `
  return ['--input-type=module', '--eval', program, directory]
}

const run = (directory: string, code: string, stdio: StdioOptions = 'inherit') =>
  spawnSync(process.execPath, programOf(directory, code), { stdio }).status

t.test('two processes write to one directory, and what one stored before it was killed is in it', async t => {
  const directory = makeFolder()
  const app = await profiledApp(t, { directory })
  app.get('/mine', async () => 'ok')
  const code = `
    app.get('/its', async () => 'ok')
    for (;;) {
      const { headers } = await app.inject('/its')
      await app.profiler.settled()
      writeSync(1, headers['x-debug-token'] + '\\n')
    }
  `
  const child = spawn(process.execPath, programOf(directory, code), { stdio: ['ignore', 'pipe', 'inherit'] })
  const tokens: string[] = []
  for await (const token of createInterface(child.stdout)) {
    tokens.push(token)
    if (tokens.length < 50) await app.inject('/mine')
    else child.kill('SIGKILL')
  }
  t.equal((await app.profiler.search({ url: '/mine' })).total, 49)
  t.ok(tokens.length >= 50)
  for (const token of tokens) t.equal((await app.profiler.find(token))?.url, '/its')
})

t.test('a process that exits during a burst leaves all its profiles', async t => {
  const directory = makeFolder()
  const code = `
    app.get('/its', async () => 'ok')
    await Promise.all(Array.from({ length: 30 }, () => app.inject('/its')))
    setImmediate(() => setImmediate(() => process.exit()))
  `
  t.equal(run(directory, code), 0)
  t.equal(storeIn(t, directory).store.search({ url: '/its' }).total, 30)
})

for (const [how, route] of [
  ['exits', 'process.exit()'],
  ['dies of an error', "setTimeout(() => { throw new Error('from nowhere') })"],
] as const) {
  t.test(`a request during which the process ${how} has a profile`, async t => {
    const directory = makeFolder()
    run(directory, `app.get('/fatal', () => { ${route} }); await app.inject('/fatal')`, 'ignore')
    t.match(storeIn(t, directory).store.search({}).profiles, [{ url: '/fatal', outcome: 'unfinished', status: null }])
  })
}

// The system also signals that a file has grown too large. A listener keeps that from ending the process.
process.on('SIGXFSZ', () => {})

/** Limits the size of files that this process may write, to simulate a full disk at a place of our choosing. */
function limitFiles(bytes: number | 'unlimited'): boolean {
  return spawnSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:unlimited`]).status === 0
}

const skip = !limitFiles('unlimited')

t.test('a disk that fills up during a write only costs that profile its place on disk', { skip }, async t => {
  const { store, complaints, directory } = storeIn(t)
  write(store, 'before')
  const before = bytesIn(directory)
  t.teardown(() => limitFiles('unlimited'))
  limitFiles(before + 1000)
  write(store, 'lost')
  store.flush()
  t.equal(bytesIn(directory), before, 'no partial line remains')
  limitFiles(1000)
  for (let index = 0; index < 5; index++) {
    write(store, `lost ${index}`)
    store.flush()
  }
  limitFiles('unlimited')
  t.equal(bytesIn(directory), before)
  t.ok(readdirSync(directory).length <= 2, 'failures do not each create a file')
  write(store, 'after')
  store.flush()
  limitFiles(1000)
  write(store, 'lost again')
  store.flush()
  limitFiles('unlimited')
  store.close()
  t.same(complaints, ['The profiler cannot write profiles, and keeps only the newest in memory'])
  t.equal(store.search({}).total, 9)
  const { store: reader, complaints: troubles } = storeIn(t, directory)
  t.same(tokensIn(reader).sort(), ['after', 'before'])
  t.same(troubles, [])
})

t.test('a disk that fills up again is logged again', { skip }, async t => {
  const { store, complaints } = storeIn(t)
  t.teardown(() => limitFiles('unlimited'))
  const now = Date.now()
  const writeAt = (minutes: number, token: string, limit: number | 'unlimited') => {
    t.intercept(Date, 'now', { value: () => now + minutes * 60_000 })
    limitFiles(limit)
    write(store, token)
    store.flush()
  }
  writeAt(0, 'lost', 0)
  writeAt(2, 'stored', 'unlimited')
  writeAt(3, 'lost again', 0)
  t.equal(complaints.length, 2)
  limitFiles('unlimited')
})

t.test('a full disk never affects the request', { skip }, async t => {
  const { lines, logger } = keptLines('warn')
  const app = await profiledApp(t, {}, { logger })
  app.get('/', async () => 'ok')
  await app.ready()
  t.teardown(() => limitFiles('unlimited'))
  limitFiles(0)
  for (let request = 0; request < 3; request++) t.equal((await app.inject('/')).body, 'ok')
  await everythingStored(app)
  t.equal((await app.profiler.search({})).total, 3)
  limitFiles('unlimited')
  t.equal(lines.filter(line => line.includes('cannot write')).length, 1)
})

t.test('an unreadable segment is logged once', async t => {
  // A place that an unprivileged user can reach.
  const directory = mkdtempSync(join(tmpdir(), 'profiles-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  chmodSync(directory, 0o755)
  const { store } = storeIn(t, directory)
  write(store, 'one')
  store.close()
  const [name = ''] = readdirSync(directory)
  chmodSync(join(directory, name), 0)
  const { store: reader, complaints } = storeIn(t, directory)
  const user = process.geteuid?.() ?? 0
  if (user === 0) process.seteuid?.(65534)
  t.teardown(() => process.seteuid?.(user))
  for (let time = 0; time < 2; time++) t.equal(reader.search({}).total, 0)
  process.seteuid?.(user)
  t.same(complaints, ['The profiler cannot read a segment of its store'])
})

t.test('folders and pipes named like segments stop neither writing nor reading', async t => {
  const directory = makeFolder()
  for (const name of ['profiles-v3-0-0-0.ndjson', 'configuration-0.json']) mkdirSync(join(directory, name))
  for (const name of ['profiles-v3-0-0-1.ndjson', 'profiles-v3-z-0-0.ndjson', 'configuration-pipe.json']) {
    spawnSync('mkfifo', [join(directory, name)])
  }
  const { store, complaints } = storeIn(t, directory, { profiles: 20 })
  store.writeConfiguration(configuration)
  t.equal(store.findConfiguration('pipe'), null)
  for (let index = 0; index < 30; index++) write(store, `token-${index}`)
  appendFileSync(join(directory, 'profiles-v3-0-0-2.ndjson'), '')
  t.equal(store.find('latest')?.token, 'token-29')
  t.ok(store.search({}).total <= 20)
  t.same(complaints, [])
})

/** An application with handlers of its own, whose request ends in an error that nobody catches. */
const crashing = (handlers: string, work: string) => `
  import Fastify from 'fastify'
  const app = Fastify()
  ${handlers}
  const fail = () => { throw new TypeError('no card for hunter2secret', { cause: new Error('No such order') }) }
  app.get('/orders/:id', async () => { ${work} })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const url = 'http://127.0.0.1:' + app.server.address().port + '/orders/7?password=hunter2secret'
  await fetch(url).then(response => response.text()).catch(() => null)
  setTimeout(() => app.close(), 1000)
`

t.test('a crash is the same with the profiler, and the next start tells whose work it was', async t => {
  const closing = `process.on('uncaughtException', () => app.close().then(() => process.exit(3)))`
  const going = `process.on('uncaughtException', error => console.log(error.message))`
  const handling = `process.on('unhandledRejection', error => console.log(error.message, process.exitCode))`
  const later = 'setTimeout(fail, 200)'
  const cases: Array<[name: string, handlers: string, work: string, crashes: boolean]> = [
    ['after the response', '', later, true],
    ['before the response', '', 'setTimeout(fail, 20); await new Promise(() => {})', true],
    ['a rejection', '', 'void new Promise(resolve => setTimeout(resolve, 200)).then(fail)', true],
    ['the application closes', closing, later, true],
    ['the application goes on', going, later, false],
    ['the application handles rejections', handling, 'void Promise.resolve().then(fail)', false],
    ['a hostile value', '', 'setTimeout(() => { throw { get message() { throw 1 } } }, 200)', true],
  ]
  for (const [name, handlers, work, crashes] of cases) {
    const directory = makeFolder()
    const run = (...flags: string[]) =>
      spawnSync(process.execPath, [...flags, '--input-type=module', '--eval', crashing(handlers, work)], {
        encoding: 'utf8',
        env: { ...process.env, NODE_ENV: '', FASTIFY_PROFILER_DIRECTORY: directory },
      })
    const [bare, profiled] = [run(), run('--import', 'fastify-profiler/register')]
    // How V8 came to an asynchronous function depends on what else is going on.
    const errorsOf = ({ stderr }: typeof bare) => stderr.replace(/^(?:fastify-profiler:|\s+at) .*\n/gm, '')
    t.equal(profiled.status, bare.status, `${name}: the exit code`)
    t.equal(profiled.stdout, bare.stdout, `${name}: the output`)
    t.equal(errorsOf(profiled), errorsOf(bare), `${name}: the errors`)
    const next = await profiledApp(t, { directory })
    const home = await pageOf(next, '')
    const page = await pageOf(next, 'latest?panel=exception')
    t.equal(/GET \/orders\/:id: The process crashed at/.test(home), crashes, `${name}: Home`)
    t.equal(/The process crashed at/.test(page), crashes, `${name}: the profile`)
    t.match(page, name === 'before the response' ? name : /nobody caught it/, name)
    t.notMatch(JSON.stringify(await next.profiler.find('latest')), /hunter2secret/)
    if (!name.includes('hostile')) t.match(page, /TypeError[^]*No such order/, name)
  }
})
