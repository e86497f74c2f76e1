import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'

// Packs the package, installs it in empty folders from the registry, and profiles a request of each example there.
// It needs a network, so `npm test` leaves it out: `npm run test:package` runs it.

const workspace = dirname(dirname(import.meta.dirname))
const examples = join(workspace, 'examples')
const scratch = mkdtempSync(join(tmpdir(), 'fastify-profiler-'))
t.teardown(() => rmSync(scratch, { recursive: true, force: true }))

/** What installing the profiler may add to an application that has Fastify. */
const largest = 1_000_000

const hiddenLine = 'The profile has this line, the output has not.'

// Without what tap has every process load.
const environment = { ...process.env, NODE_OPTIONS: '', PORT: '0' }

const execute = promisify(execFile)
async function run(folder: string, command: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute(command, args, { cwd: folder, env: environment, maxBuffer: 2 ** 24 })
  return stdout
}

await run(workspace, 'npm', 'pack', '--pack-destination', scratch)
const tarball = join(scratch, String(readdirSync(scratch).find(name => name.endsWith('.tgz'))))

t.test('the package has what it needs to run, to be read and to be typed, and nothing else', async t => {
  const files = (await run(scratch, 'tar', '-tzf', tarball)).trim().split('\n')
  for (const file of ['dist/index.js', 'dist/index.d.ts', 'show/assets/profiler.css', 'package.json']) {
    t.ok(files.includes(`package/${file}`), file)
  }
  t.same(
    files.filter(file => !/^package\/(?:dist|show\/assets)\//.test(file)).sort(),
    ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'].map(file => `package/${file}`),
  )
  t.same(
    files.filter(file => /\/(?:test|bench|examples)\//.test(file)),
    [],
  )
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

/** Starts an application, asks for its page, and reads that request's profile as a page and as JSON. */
async function profileRequest(t: Test, folder: string, file: string): Promise<void> {
  const server = spawn(process.execPath, [file], { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => server.kill())
  const printed: string[] = []
  const complaints: string[] = []
  server.stderr.on('data', data => complaints.push(String(data)))
  const output = createInterface(server.stdout).on('line', line => printed.push(JSON.parse(line).msg))
  const untilPrinted = async (wanted: RegExp): Promise<string> => {
    for (;;) {
      const found = printed.map(line => wanted.exec(line)?.[0]).find(text => text !== undefined)
      if (found !== undefined) return found
      if (server.exitCode !== null) throw new Error(`${file} ended. ${complaints.join('')}`)
      await Promise.race([once(output, 'line'), once(server, 'close')])
    }
  }
  const origin = await untilPrinted(/http:\/\/127\.0\.0\.1:\d+/)

  const response = await fetch(origin, { headers: { 'accept-language': 'fr' } })
  t.same(await response.json(), { hello: 'world' })
  const link = response.headers.get('x-debug-token-link') ?? ''
  const page = await fetch(link, { headers: { accept: 'text/html' } })
  t.equal(page.status, 200)
  t.match(await page.text(), /<title>Request \/ Response · 200 GET \/<\/title>/)
  const profile = await (await fetch(link, { headers: { accept: 'application/json' } })).json()
  const lines = profile.logs.map((log: { message: string }) => log.message)
  if (file.includes('panel')) t.match(profile.panels, { language: { accepted: 'fr' } })
  t.match(profile, { status: 200, url: '/', notes: [], spans: [{ kind: 'handler', name: 'greet' }] })
  t.same(lines, ['incoming request', hiddenLine, 'request completed'])

  // Pino writes to its stream later.
  await untilPrinted(/request completed/)
  server.kill()
  await once(server, 'close')
  t.same(
    printed.filter(line => !line.startsWith('Server listening')),
    ['incoming request', 'request completed'],
  )
  t.same(complaints, [])
  t.comment(`GET / ${response.status}, ${link}: ${lines.length} log lines, ${profile.spans.length} span`)
}
