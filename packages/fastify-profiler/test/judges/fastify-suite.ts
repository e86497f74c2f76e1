import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

// Runs Fastify's own tests without and with the profiler's flag, and fails if a test ends differently for a reason that
// is not listed here. Its npm package has the tests; the packages that they need come from the registry.
// npm run -w fastify-profiler judge:fastify [-- --fastify=5.0.0 --files=hooks,reply-error]

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

const pagesEndTheirStreams =
  'Fastify 5.0 closes its server a little later if it has any preClose hook: the pages have one'

const expected: Difference[] = [
  {
    file: 'close-pipelining.test.js',
    tests: /^Should return 503 while closing - pipelining$/,
    why: pagesEndTheirStreams,
  },
  { file: 'hooks.test.js', tests: /^on(?:Request|Response) hook should support encapsulation/, why: hooksAreHooks },
  { file: 'pretty-print.test.js', tests: /includeHooks$/, why: hooksAreHooks },
  { file: 'pretty-print.test.js', tests: /empty plugins$/, why: 'prints all plugins: the pages are one' },
  { file: 'pretty-print.test.js', tests: /routes$|commonPrefix$/, why: pagesAreRoutes },
  { file: 'router-options.test.js', tests: /buildPrettyMeta/, why: pagesAreRoutes },
  { file: 'schema-feature.test.js', tests: /^Schema controller bucket$/, why: pagesAreAContext },
  { file: 'schema-special-usage.test.js', tests: /^serializer read validator's schemas$/, why: pagesAreAContext },
]

interface Result {
  passed: boolean
  file: string
  name: string
  /** The name of the test that it is part of, or its own. */
  test: string
}

const version = option('fastify') ?? createRequire(import.meta.url)('fastify/package.json').version
const folder = mkdtempSync(join(tmpdir(), 'fastify-suite-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const suite = join(folder, 'node_modules/fastify')
const flag = ['--import', join(import.meta.dirname, '../../register.js')]

install()
const files = testFiles()
console.log(`Fastify ${version}: ${files.length} files of tests`)
const off = await run('off', [])
const on = await run('on', flag)
process.exitCode = compare(off, on) ? 0 : 1

/** Installs Fastify, and those of its development packages that its tests load. */
function install(): void {
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  npmInstall(`fastify@${version}`)
  const { devDependencies } = JSON.parse(readFileSync(join(suite, 'package.json'), 'utf8'))
  const sources = filesBelow('test').map(file => readFileSync(join(suite, file), 'utf8'))
  const loaded = sources.flatMap(source =>
    [...source.matchAll(/(?:require\(|from )'([^'./]+)/g)].map(([, name]) => name),
  )
  npmInstall(
    ...[...new Set(loaded)]
      .filter(name => String(name) in devDependencies)
      .map(name => `${name}@${devDependencies[String(name)]}`),
  )
}

function npmInstall(...packages: string[]): void {
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--loglevel=error', ...packages], { cwd: folder })
}

function filesBelow(path: string): string[] {
  return readdirSync(join(suite, path), { recursive: true, encoding: 'utf8' })
    .map(name => join(path, name))
    .filter(name => /\.[cm]?js$/.test(name))
}

/** The value of an argument: "5.0.0" of "--fastify=5.0.0". */
function option(name: string): string | undefined {
  const start = `--${name}=`
  return process.argv.find(argument => argument.startsWith(start))?.slice(start.length)
}

/** The files to run: all, or those named in the arguments. */
function testFiles(): string[] {
  const wanted = option('files')?.split(',')
  return filesBelow('test')
    .filter(file => file.endsWith('.test.js') && wanted?.some(name => file.includes(name)) !== false)
    .sort()
}

/** Runs the tests. @returns their results by name */
async function run(name: string, flags: readonly string[]): Promise<Map<string, Result>> {
  const results = join(folder, `${name}.ndjson`)
  const reporter = [
    `--test-reporter=${join(import.meta.dirname, 'test-events.js')}`,
    `--test-reporter-destination=${results}`,
  ]
  const began = Date.now()
  const child = spawn(process.execPath, [...flags, '--test', '--test-concurrency=1', ...reporter, ...files], {
    cwd: suite,
    env: { ...process.env, NODE_OPTIONS: '', FASTIFY_PROFILER_DIRECTORY: join(folder, 'profiles') },
    stdio: 'ignore',
  })
  await once(child, 'close')
  const tests = new Map<string, Result>()
  // Parts of a test are reported before the test.
  let parts: Result[] = []
  for (const text of readFileSync(results, 'utf8').split('\n').filter(Boolean)) {
    const { passed, file, name, line, nesting } = JSON.parse(text)
    const place = relative(join(suite, 'test'), file)
    let key = `${place}:${line} ${nesting} ${name}`
    while (tests.has(key)) key += ' again'
    const result = { passed, file: place, name, test: name }
    tests.set(key, result)
    parts.push(result)
    if (nesting > 0) continue
    for (const part of parts) Object.assign(part, { file: place, test: name })
    parts = []
  }
  if (tests.size < files.length) throw new Error(`Only ${tests.size} tests have run of ${files.length} files.`)
  const failed = [...tests.values()].filter(({ passed }) => !passed).length
  console.log(`${name}: ${tests.size} tests, ${failed} failed, ${Math.round((Date.now() - began) / 1000)} s`)
  return tests
}

/** Prints each difference with its reason. @returns whether all have one */
function compare(off: Map<string, Result>, on: Map<string, Result>): boolean {
  let isExplained = true
  for (const [key, { file, name, test, passed }] of off) {
    const other = on.get(key)
    if (other?.passed === passed) continue
    const why = reasonFor(file, test)
    if (why === undefined) isExplained = false
    const ends = other === undefined ? 'missing' : other.passed ? 'passed' : 'failed'
    console.log(`${file} | ${name} | off ${passed ? 'passed' : 'failed'}, on ${ends} | ${why ?? 'UNEXPLAINED'}`)
  }
  for (const [key, { file, name, test }] of on) {
    if (off.has(key)) continue
    const why = reasonFor(file, test)
    if (why === undefined) isExplained = false
    console.log(`${file} | ${name} | only on | ${why ?? 'UNEXPLAINED'}`)
  }
  return isExplained
}

function reasonFor(file: string, test: string): string | undefined {
  return expected.find(({ file: place, tests }) => place === file && tests.test(test))?.why
}
