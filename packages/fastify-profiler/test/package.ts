import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'

// Packs the package, installs it in empty folders from the registry, and profiles a request of each example there.
// It needs a network, so `npm test` leaves it out: `npm run test:more` runs it.

const workspace = dirname(dirname(import.meta.dirname))
const examples = join(workspace, 'examples')
const scratch = mkdtempSync(join(tmpdir(), 'fastify-profiler-'))
t.teardown(() => rmSync(scratch, { recursive: true, force: true }))

/** What installing the profiler may add to an application that has Fastify. */
const largest = 1_000_000

const hiddenLine = 'The profile has this line, the output has not.'

const flag = ['--import', 'fastify-profiler/register']

const greeting = `
app.addHook('onRequest', async function authenticate () {})
app.get('/', async function greet (request) {
  request.log.debug(${JSON.stringify(hiddenLine)})
  return { hello: 'world' }
})`

/** An application that knows nothing of the profiler. */
function plain(head: string): string {
  return `${head}
const app = Fastify({ logger: true })
${greeting}
app.listen({ port: 0, host: '127.0.0.1' })
`
}

// Without what tap has every process load.
const environment = { ...process.env, NODE_OPTIONS: '', PORT: '0', FORCE_COLOR: '0', NO_COLOR: '1' }

const execute = promisify(execFile)
async function run(folder: string, command: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute(command, args, { cwd: folder, env: environment, maxBuffer: 2 ** 24 })
  return stdout
}

await run(workspace, 'npm', 'pack', '--pack-destination', scratch)
const tarball = join(scratch, String(readdirSync(scratch).find(name => name.endsWith('.tgz'))))

t.test('the package has what it needs to run, to be read and to be typed, and nothing else', async t => {
  const files = (await run(scratch, 'tar', '-tzf', tarball)).trim().split('\n')
  for (const file of [
    ...['dist/index.js', 'dist/index.d.ts', 'dist/register.js', 'dist/register.d.ts', 'dist/testing.js'],
    ...['dist/testing.d.ts', 'dist/fastify-profiler.js', 'core/view/assets/language.css'],
    ...['features/compare/compare.css', 'package.json'],
  ]) {
    t.ok(files.includes(`package/${file}`), file)
  }
  const found = files
    .filter(file => !/^package\/(?:dist|core\/view\/assets)\/|^package\/features\/\w[\w/-]*\.(?:css|js)$/.test(file))
    .sort()
  t.same(
    found,
    ['LICENSE', 'README.md', 'SKILL.md', 'package.json'].map(file => `package/${file}`),
  )
  const shown = files.filter(file => /\/(?:test|bench|examples)\//.test(file))
  t.same(shown, [])
})

t.test('installed beside Fastify by npm, it adds less than a megabyte and profiles requests', async t => {
  const folder = emptyFolder('npm')
  await run(folder, 'npm', 'install', 'fastify')
  const before = sizeOf(folder)
  await run(folder, 'npm', 'install', tarball)
  const added = sizeOf(folder) - before
  t.comment(`It adds ${Math.round(added / 1000)} kB: ${Math.round(sizeOf(installedIn(folder)) / 1000)} of its own.`)
  t.ok(added < largest)
  await run(folder, 'npm', 'install', 'pino', '@types/node@20')
  await profileExamples(t, folder)
})

t.test('installed by pnpm, it profiles requests', async t => {
  const folder = emptyFolder('pnpm')
  await run(folder, 'pnpm', 'add', '--store-dir', join(scratch, 'store'), tarball, 'fastify', 'pino', '@types/node@20')
  await profileExamples(t, folder)
})

t.test('beside the first Fastify 5 and its pino 9, with a pino 10 of its own, it misses no line', async t => {
  const folder = emptyFolder('older', { overrides: { 'fastify-profiler': { pino: '^10.0.0' } } })
  await run(folder, 'npm', 'install', 'fastify@5.0.0', 'pino@9', tarball)
  t.match(versionOf(join(folder, 'node_modules/pino')), /^9\./)
  t.match(versionOf(join(installedIn(folder), 'node_modules/pino')), /^10\./)
  for (const example of ['server.js', 'server.cjs', 'own-logger.js']) {
    await t.test(example, t => profileRequest(t, folder, example))
  }
})

t.test('under the flag, applications of every kind are profiled without a change of code', async t => {
  const folder = emptyFolder('flag', { type: 'commonjs' })
  await run(folder, 'npm', 'install', tarball, 'fastify', 'fastify-cli', 'tsx')
  writeFileSync(join(folder, 'plain.cjs'), plain("const Fastify = require('fastify')"))
  writeFileSync(join(folder, 'plain.mjs'), plain("import Fastify from 'fastify'"))
  writeFileSync(join(folder, 'typed.mts'), plain("import Fastify, { type FastifyInstance } from 'fastify'"))
  writeFileSync(join(folder, 'typed.ts'), plain("import Fastify = require('fastify')"))
  writeFileSync(join(folder, 'plugin.cjs'), `module.exports = async function plugin (app, options) { ${greeting} }`)
  const cli = [
    'node_modules/fastify-cli/cli.js',
    'start',
    '--port',
    String(await freePort()),
    '--log-level',
    'info',
    'plugin.cjs',
  ]
  for (const command of [
    [...flag, 'plain.cjs'],
    [...flag, 'plain.mjs'],
    ['--import', 'tsx', ...flag, 'typed.mts'],
    [...flag, '--import', 'tsx', 'typed.ts'],
    [...flag, ...cli],
  ]) {
    await t.test(`node ${command.join(' ')}`, t => profileGreeting(t, folder, command))
  }
})

t.test('budgets pass and fail as they should in node:test, tap, vitest and jest, under the flag, too', async t => {
  // Before Node 24.9, jest cannot require cookie 2, which Fastify does.
  const folder = emptyFolder('budgets', { type: 'module', overrides: { cookie: '^1.1.1' } })
  await run(folder, 'npm', 'install', tarball, 'fastify', 'tap', 'vitest', 'jest')
  for (const [runner, ...command] of [
    ['node:test', '--test'],
    ['tap'],
    ['vitest', 'node_modules/vitest/vitest.mjs', 'run'],
    ['@jest/globals', '--experimental-vm-modules', 'node_modules/jest/bin/jest.js'],
  ]) {
    const file = `${String(runner).replaceAll(/\W/g, '')}.test.js`
    writeFileSync(join(folder, file), budget(`import { test } from '${runner}'`))
    for (const options of ['', flag.join(' ')]) {
      const env = { ...environment, NODE_OPTIONS: options }
      const ended = await execute(process.execPath, [...command, file], { cwd: folder, env }).catch(error => error)
      const output = `${ended.stdout}${ended.stderr}`
      const title = `${runner} ${options}`
      t.match(output, 'GET /museums logged 1 error:', title)
      t.match(output, /[#ℹ] pass 1|^ok 1 - within its budget|1 passed/m, title)
      t.match(output, /[#ℹ] fail 1|^not ok 2 - over its budget|1 failed/m, title)
    }
  }
})

/** A test file with a test that passes and one that exceeds its budget. */
function budget(head: string): string {
  return `${head}
import Fastify from 'fastify'
import { expectProfile, profiled } from 'fastify-profiler/testing'
function build () {
  const app = Fastify({ logger: { level: 'silent' } })
  app.get('/museums', async request => { request.log.error('no picture') })
  return app
}
test('within its budget', async () => {
  const app = build()
  const { profile } = await profiled(app).inject('/museums')
  expectProfile(profile).queries({ max: 0 }).noLoops().under({ ms: 5000 })
  await app.close()
})
test('over its budget', async () => {
  const { profile } = await profiled(build()).inject('/museums')
  expectProfile(profile).noErrorLogs()
})
`
}

t.test('under the flag, the first Fastify 5 is profiled, and Fastify 4 runs unprofiled', async t => {
  const first = emptyFolder('flag-first', { type: 'commonjs' })
  await run(first, 'npm', 'install', 'fastify@5.0.0', tarball)
  writeFileSync(join(first, 'plain.cjs'), plain("const Fastify = require('fastify')"))
  await profileGreeting(t, first, [...flag, 'plain.cjs'])
  const earlier = emptyFolder('flag-earlier', { type: 'commonjs' })
  await run(earlier, 'npm', 'install', '--legacy-peer-deps', 'fastify@4', tarball)
  writeFileSync(join(earlier, 'plain.cjs'), plain("const Fastify = require('fastify')"))
  const server = start(t, earlier, [...flag, 'plain.cjs'])
  const origin = await server.printed(/http:\/\/127\.0\.0\.1:\d+/)
  const response = await fetch(origin)
  t.same([await response.json(), response.headers.get('x-debug-token')], [{ hello: 'world' }, null])
  t.match(server.complaints.join(''), /^fastify-profiler: Fastify 4\.\d+\.\d+ is not profiled\. .*\n$/)
})

/** A port for a program that cannot choose one. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** A folder with the examples and a package.json that asks for nothing. */
function emptyFolder(name: string, settings: object = {}): string {
  const folder = join(scratch, name)
  mkdirSync(folder)
  cpSync(examples, folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', ...settings }))
  return folder
}

function installedIn(folder: string): string {
  return join(folder, 'node_modules/fastify-profiler')
}

function versionOf(installed: string): string {
  return JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')).version
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => statSync(join(folder, name)))
    .reduce((size, file) => size + (file.isFile() ? file.size : 0), 0)
}

/** Runs every example: JavaScript as it is, TypeScript as tsc checks and translates it. */
async function profileExamples(t: Test, folder: string): Promise<void> {
  const sources = readdirSync(examples).filter(name => /ts$/.test(name))
  const settings = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node', '--outDir', 'built']
  await run(folder, 'tsc', ...settings, ...sources)
  t.match(readFileSync(join(folder, 'built/server.cjs'), 'utf8'), 'require("fastify-profiler")')
  for (const example of readdirSync(examples)) {
    const file = /ts$/.test(example) ? join('built', example.replace(/ts$/, 'js')) : example
    await t.test(example, t => profileRequest(t, folder, file))
  }
}

/** A server in a process of its own. */
interface Started {
  process: ChildProcess
  /** The messages of its log. */
  messages: string[]
  /** What it has written to stderr. */
  complaints: string[]
  /** Waits for a message. @returns the part that matches */
  printed: (wanted: RegExp) => Promise<string>
}

function start(t: Test, folder: string, command: readonly string[]): Started {
  const server = spawn(process.execPath, command, { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => server.kill())
  const messages: string[] = []
  const complaints: string[] = []
  server.stderr.on('data', data => complaints.push(String(data)))
  const output = createInterface(server.stdout).on('line', line => messages.push(messageOf(line)))
  const printed = async (wanted: RegExp): Promise<string> => {
    for (;;) {
      const found = messages.map(line => wanted.exec(line)?.[0]).find(text => text !== undefined)
      if (found !== undefined) return found
      if (server.exitCode !== null) throw new Error(`${command.join(' ')} ended. ${complaints.join('')}`)
      await Promise.race([once(output, 'line'), once(server, 'close')])
    }
  }
  return { process: server, messages, complaints, printed }
}

/** The message of a log line, as pino or a prettier printer writes it. */
function messageOf(line: string): string {
  return line.startsWith('{') ? JSON.parse(line).msg : line
}

/** Starts a plain application under the flag, and reads the profile of its greeting. */
async function profileGreeting(t: Test, folder: string, command: readonly string[]): Promise<void> {
  const server = start(t, folder, command)
  const origin = await server.printed(/http:\/\/127\.0\.0\.1:\d+/)
  const response = await fetch(origin)
  t.same(await response.json(), { hello: 'world' })
  const link = response.headers.get('x-debug-token-link') ?? ''
  const profile = await (await fetch(link, { headers: { accept: 'application/json' } })).json()
  t.match(profile, {
    status: 200,
    notes: [],
    spans: [
      { kind: 'hook', name: 'authenticate' },
      { kind: 'handler', name: 'greet' },
    ],
  })
  const found = profile.logs.map((log: { message: string }) => log.message)
  t.same(found, ['incoming request', hiddenLine, 'request completed'])
  const malformed = await fetch(`${origin}/%zz`)
  t.equal(malformed.status, 400)
  t.ok(malformed.headers.get('x-debug-token'), 'a malformed URL has a profile')
  await server.printed(/request completed/)
  t.notOk(server.messages.includes(hiddenLine))
  t.same(server.complaints, [`fastify-profiler: ${origin.replace('127.0.0.1', 'localhost')}/_profiler/\n`])
}

/** Starts an application, asks for its page, and reads that request's profile as a page and as JSON. */
async function profileRequest(t: Test, folder: string, file: string): Promise<void> {
  const { process: server, messages: printed, complaints, printed: untilPrinted } = start(t, folder, [file])
  const origin = await untilPrinted(/http:\/\/127\.0\.0\.1:\d+/)

  const response = await fetch(origin, { headers: { 'accept-language': 'fr' } })
  t.same(await response.json(), { hello: 'world' })
  const link = response.headers.get('x-debug-token-link') ?? ''
  const page = await fetch(link, { headers: { accept: 'text/html' } })
  t.equal(page.status, 200)
  t.match(await page.text(), /<title>[^<]* · 200 GET \/<\/title>/)
  const profile = await (await fetch(link, { headers: { accept: 'application/json' } })).json()
  const lines = profile.logs.map((log: { message: string }) => log.message)
  if (file.includes('panel')) t.match(profile.panels, { language: { accepted: 'fr' } })
  t.match(profile, { status: 200, url: '/', notes: [], spans: [{ kind: 'handler', name: 'greet' }] })
  t.same(lines, ['incoming request', hiddenLine, 'request completed'])

  // Pino writes to its stream later.
  await untilPrinted(/request completed/)
  server.kill()
  await once(server, 'close')
  const found = printed.filter(line => !line.startsWith('Server listening'))
  t.same(found, ['incoming request', 'request completed'])
  t.same(complaints, [])
  t.comment(`GET / ${response.status}, ${link}: ${lines.length} log lines, ${profile.spans.length} span`)
}
