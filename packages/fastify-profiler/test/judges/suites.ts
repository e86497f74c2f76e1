import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import type { TestEnd } from './test-events.ts'

// Runs the tests of Fastify, of its plugins and of applications without and with the profiler's flag, prints how they
// ended, and fails if a test ends differently for a reason that is not listed here. npm packages have their tests; the
// packages that they load come from the registry. What is not on npm is given as a folder with its packages installed.
// If its tests are not those of node:test below test/, it comes with the command that prints their results as TAP.
// npm run -w fastify-profiler judge:suites [-- fastify@5.0.0 @fastify/static ../session --files=hooks,reply-error]
// npm run -w fastify-profiler judge:suites -- ../demo --command='npm run test:run'

/** All on npm with their tests. */
const suites = [
  ...['5.0.0', '5.6', '5.9', '5'].map(version => `fastify@${version}`),
  ...'http-proxy reply-from websocket static compress helmet multipart rate-limit under-pressure swagger autoload otel'
    .split(' ')
    .map(name => `@fastify/${name}`),
  'mercurius',
]

/** Files of tests below test/, by what they are called; those of the first kind that a suite has count. */
const testNames = [
  /^(?:commonjs|module)\/[\w-]+\.js$|^issues\/\d+\/test\.js$/,
  /\.test\.[cm]?[jt]s$/,
  /^[\w-]+\.[cm]?[jt]s$/,
]

/** Why a test ends differently under the flag. */
interface Difference {
  file: string
  /** The names of the tests. */
  tests: RegExp
  why: string
}

const pagesAreRoutes = 'prints or counts all routes: the pages are routes of the application'
const pagesAreAContext = 'counts the encapsulation contexts: the pages have one'
const hooksAreHooks = "counts the instance's hooks: the profiler has some"

const pagesAreCountedAtTheEnd =
  'Fastify 5.0 closes a little later with any encapsulation context or preClose hook: the pages have both'

const expected: Difference[] = [
  {
    file: 'close-pipelining.test.js',
    tests: /^Should return 503 while closing - pipelining$/,
    why: pagesAreCountedAtTheEnd,
  },
  {
    file: 'hooks.test.js',
    tests: /^(?:on(?:Request|Response)|preValidation) hook should support encapsulation/,
    why: hooksAreHooks,
  },
  {
    file: 'http2-canceled-streams-cleanup.test.js',
    tests: /./,
    why: 'cancels a request when its server writes: Node may leave such a stream open, and ten of them stop this test',
  },
  { file: 'pretty-print.test.js', tests: /includeHooks$/, why: hooksAreHooks },
  { file: 'pretty-print.test.js', tests: /empty plugins$/, why: 'prints all plugins: the pages are one' },
  { file: 'pretty-print.test.js', tests: /routes$|commonPrefix$/, why: pagesAreRoutes },
  { file: 'router-options.test.js', tests: /buildPrettyMeta/, why: pagesAreRoutes },
  {
    file: 'schema-feature.test.js',
    tests: /^Schema controller bucket$|^test assertion count exceeds plan$/,
    why: pagesAreAContext,
  },
  { file: 'schema-special-usage.test.js', tests: /^serializer read validator's schemas$/, why: pagesAreAContext },
]

interface Result {
  passed: boolean
  file: string
  name: string
  /** The name of the test that it is part of, or its own. */
  test: string
}

type Results = ReadonlyMap<string, Result>

const { values, positionals } = parseArgs({
  options: { files: { type: 'string' }, command: { type: 'string' } },
  allowPositionals: true,
})
const scratch = mkdtempSync(join(tmpdir(), 'suites-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
const flag = ['--import', join(import.meta.dirname, '../../register.js')]

console.log(row(['suite', 'tests', 'failed off', 'failed on', 'explained', 'unexplained', 'seconds']))
for (const suite of positionals.length > 0 ? positionals : suites) await judge(suite)

/** Prints a suite's row, and a line for each test that ends differently, without the parts of explained ones. */
async function judge(suite: string): Promise<void> {
  const began = Date.now()
  const folder = existsSync(suite) ? resolve(suite) : install(suite)
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const files = values.command === undefined ? testFiles(folder) : []
  const off = await run(folder, files, [])
  const on = await run(folder, files, flag)
  let different = differences(off, on)
  // A test that depends on the machine's speed ends either way.
  const doubtful = [...new Set(different.filter(({ why }) => why === undefined).map(({ file }) => join('test', file)))]
  if (doubtful.length > 0) {
    const again = differences(await run(folder, doubtful, []), await run(folder, doubtful, flag))
    different = different.filter(({ key, why }) => why !== undefined || again.some(other => other.key === key))
  }
  const explained = different.filter(({ why }) => why !== undefined)
  const failed = (results: Results) => [...results.values()].filter(({ passed }) => !passed).length
  const counts = [off.size, failed(off), failed(on), explained.length, different.length - explained.length]
  console.log(row([`${name} ${version ?? ''}`, ...counts.map(String), `${Math.round((Date.now() - began) / 1000)}`]))
  for (const { line, why, isPart } of different) if (why === undefined || !isPart) console.log(`  ${line}`)
  if (different.length > explained.length) process.exitCode = 1
}

/** Installs a package, and those of its development packages that its tests load. @returns its folder */
function install(suite: string): string {
  const home = join(scratch, suite.replaceAll(/\W/g, '-'))
  const folder = join(home, 'node_modules', suite.replace(/(?<=.)@.*/, ''))
  mkdirSync(home)
  writeFileSync(join(home, 'package.json'), '{ "private": true }')
  npmInstall(home, suite)
  const { devDependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const sources = filesBelow(join(folder, 'test')).map(file => readFileSync(join(folder, 'test', file), 'utf8'))
  const loaded = sources.flatMap(source =>
    [...source.matchAll(/(?:require\(|from |import\()['"]((?:@[^'"/]+\/)?[^'"./]+)/g)].map(([, name]) => String(name)),
  )
  const wanted = new Set(['fastify', ...loaded].filter(name => name in devDependencies))
  const packages = [...wanted].map(name => `${name}@${devDependencies[name]}`)
  // What the registry lacks is left out, and the tests that load it fail on both sides.
  if (packages.length > 0 && !npmInstall(home, ...packages)) for (const one of packages) npmInstall(home, one)
  return folder
}

function npmInstall(folder: string, ...packages: string[]): boolean {
  const args = ['install', '--ignore-scripts', '--no-audit', '--legacy-peer-deps', ...packages]
  return spawnSync('npm', args, { cwd: folder, stdio: 'ignore' }).status === 0
}

function filesBelow(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' }).filter(name => /\.[cm]?[jt]s$/.test(name))
}

/** The files to run: all, or those named in the arguments. */
function testFiles(folder: string): string[] {
  const wanted = values.files?.split(',')
  const files = filesBelow(join(folder, 'test'))
  const tests = testNames.map(name => files.filter(file => name.test(file))).find(({ length }) => length > 0) ?? []
  return tests
    .filter(file => wanted?.some(name => file.includes(name)) !== false)
    .map(file => join('test', file))
    .sort()
}

/** Runs the tests. @returns their results by name */
async function run(folder: string, files: readonly string[], flags: readonly string[]): Promise<Results> {
  const profiles = join(scratch, 'profiles')
  const environment = { ...process.env, NODE_OPTIONS: '', FASTIFY_PROFILER_DIRECTORY: profiles }
  const ends = await (values.command === undefined
    ? endsOfFiles(folder, files, flags, environment)
    : endsOfCommand(folder, values.command, { ...environment, NODE_OPTIONS: flags.join(' ') }))
  const tests = new Map<string, Result>()
  // Parts of a test are reported before the test.
  let parts: Result[] = []
  for (const { passed, file, name, line, nesting } of ends) {
    const place = file && relative(join(folder, 'test'), file)
    let key = `${place}:${line} ${nesting} ${name}`
    while (tests.has(key)) key += ' again'
    const result = { passed, file: place, name, test: name }
    tests.set(key, result)
    parts.push(result)
    if (nesting > 0) continue
    for (const part of parts) Object.assign(part, { file: place, test: name })
    parts = []
  }
  if (tests.size < Math.max(1, files.length)) {
    throw new Error(`${folder}: only ${tests.size} tests of ${files.length} files have run.`)
  }
  return tests
}

async function endsOfFiles(folder: string, files: readonly string[], flags: readonly string[], env: NodeJS.ProcessEnv) {
  const results = join(scratch, `${basename(folder)}.ndjson`)
  const reporter = [
    `--test-reporter=${join(import.meta.dirname, 'test-events.js')}`,
    `--test-reporter-destination=${results}`,
  ]
  const loader = files.some(file => file.endsWith('.ts')) ? ['--import', 'tsx'] : []
  // A test that hangs fails.
  const runner = ['--test', '--test-concurrency=1', '--test-timeout=120000']
  const args = [...loader, ...flags, ...runner, ...reporter, ...files]
  await once(spawn(process.execPath, args, { cwd: folder, env, stdio: 'ignore' }), 'close')
  const lines = readFileSync(results, 'utf8').split('\n').filter(Boolean)
  return lines.map((line): TestEnd => JSON.parse(line))
}

async function endsOfCommand(folder: string, command: string, env: NodeJS.ProcessEnv) {
  const child = spawn(command, { cwd: folder, env, shell: true, stdio: ['ignore', 'pipe', 'ignore'] })
  const printed = await text(child.stdout)
  return [...printed.matchAll(/^( *)(not )?ok \d+ (?:- )?(.*?)(?: # time=.*)?$/gm)].map(
    ([, indent = '', not, name = '']): TestEnd => {
      return { passed: not === undefined, file: '', name, line: 0, nesting: indent.length }
    },
  )
}

/** The tests that end differently, each with its reason. */
function differences(off: Results, on: Results) {
  const end = (result: Result | undefined) => (result === undefined ? 'missing' : result.passed ? 'passed' : 'failed')
  return [...new Map([...on, ...off])]
    .filter(([key]) => end(off.get(key)) !== end(on.get(key)))
    .map(([key, { file, name, test }]) => {
      const why = expected.find(
        ({ file: place, tests }) => place === file && [test, name].some(text => tests.test(text)),
      )?.why
      const ends = `off ${end(off.get(key))}, on ${end(on.get(key))}`
      return { key, file, why, isPart: name !== test, line: [file, name, ends, why ?? 'UNEXPLAINED'].join(' | ') }
    })
}

function row([name = '', ...cells]: string[]): string {
  return name.padEnd(32) + cells.map(cell => cell.padStart(13)).join('')
}
