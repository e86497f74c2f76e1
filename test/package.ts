import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'

// Packs Portico, installs it in an empty folder, and runs the site of examples/ there. It needs the npm registry, so
// `npm test` leaves it out.

const repository = dirname(dirname(import.meta.dirname))
const scratch = mkdtempSync(join(tmpdir(), 'portico-package-'))
t.teardown(() => rmSync(scratch, { recursive: true, force: true }))
const folder = join(scratch, 'site')
const portico = join(folder, 'node_modules/.bin/portico')
const email = 'you@museum.example'
const password = 'four doors and an arch'
const place = { DATA_DIR: join(scratch, 'data') }

// Without what tap has every process load.
const environment = { ...process.env, NODE_OPTIONS: '', PORT: '0', FORCE_COLOR: '0', NO_COLOR: '1' }

const added = ['exhibition', 'add', '--museum', 'Museum of Doors', '--opens-at', '2027-01-31T09:00:00Z']

const execute = promisify(execFile)

interface Typed {
  variables?: object
  /** What a pipe has. */
  input?: string
}

async function run(cwd: string, command: string, words: string[], { variables, input = '' }: Typed = {}) {
  const running = execute(command, words, { cwd, env: { ...environment, ...variables }, maxBuffer: 2 ** 24 })
  running.child.stdin?.end(input)
  return (await running).stdout
}

/** Runs a command of the site. */
async function type(words: string[], typed: Typed = {}): Promise<string> {
  return await run(folder, process.execPath, [portico, ...words], { variables: place, ...typed })
}

await run(repository, 'npm', ['pack', '--pack-destination', scratch])
await run(repository, 'npm', ['pack', '--workspace', 'fastify-profiler', '--pack-destination', scratch])
const tarballs = readdirSync(scratch)
  .filter(name => name.endsWith('.tgz'))
  .map(name => join(scratch, name))
const tarball = String(tarballs.find(path => basename(path).startsWith('portico-')))
mkdirSync(folder)
cpSync(join(repository, 'examples/site'), folder, { recursive: true })
writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
await run(folder, 'npm', ['install', '--prefer-offline', '--no-audit', ...tarballs])

t.test('the package has what it needs to run and to be typed, and no tests', async t => {
  const files = (await run(scratch, 'tar', ['-tzf', tarball])).trim().split('\n')
  for (const entry of ['index', 'testing', 'plugins/license']) {
    t.ok(files.includes(`package/dist/${entry}.js`), entry)
    t.ok(files.includes(`package/dist/${entry}.d.ts`), entry)
  }
  t.strictSame(
    files.filter(file => /\/(?:test|bench|data)\/|\.ts$/.test(file) && !/\.d\.ts$|\/examples\//.test(file)),
    [],
  )
})

await t.test('the example passes the type checker', async t => {
  const settings = [
    ...['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node', '--skipLibCheck', '--noEmit'],
    '--allowImportingTsExtensions',
  ]
  const told = await run(folder, 'tsc', [...settings, 'site.test.ts']).catch(({ stdout }: { stdout: string }) => stdout)
  t.equal(told, '')
})

await t.test('the commands have the kind of record that the site adds', async t => {
  t.match(await type(['--help']), /^ {2}exhibition add /m)
  t.match(JSON.parse(await type([...added, '--title', 'Hinges', '--json'])), {
    title: 'Hinges',
  })
  t.equal(await type(['exhibition', 'count']), '1 exhibitions\n')
  await type(['user', 'add', email, '--admin'], { input: password })
})

await t.test('the server has the route, the check and the kind of record that the site adds', async t => {
  const origin = await startSite(t, 'start')
  const visit = async (path: string, options: RequestInit = {}) => await fetch(`${origin}${path}`, options)
  const robot = { headers: { 'user-agent': 'Robot' } }
  const page = await (await visit('/exhibitions', { headers: { accept: 'text/html' } })).text()
  t.match(page, /<h1>Exhibitions<[^]*Hinges/)
  t.equal((await visit('/exhibitions', robot)).status, 403)
  t.equal((await visit('/version', robot)).status, 404)
  const credentials = JSON.stringify({ email, password })
  const json = { 'content-type': 'application/json' }
  const signedIn = await visit('/login', { method: 'POST', headers: json, body: credentials })
  const cookie = signedIn.headers.getSetCookie().join().replace(/;.*/, '')
  const body = JSON.stringify({ museum_id: '1', title: 'Locks', opens_at: '2027-02-01T09:00:00Z' })
  const added = await visit('/api/exhibitions', { method: 'POST', headers: { ...json, cookie }, body })
  t.equal(added.status, 201)
  const list = await visit('/exhibitions', { headers: { accept: 'application/json' } })
  t.match(await list.json(), [{ title: 'Hinges' }, { title: 'Locks' }])
  const { paths } = await (await visit('/api/openapi.json')).json()
  t.ok('/api/exhibitions' in paths)
})

await t.test('an export has the records that the site adds, and only the site itself restores it', async t => {
  const file = join(scratch, 'all.ndjson')
  await type(['export', '--output', file])
  await type(['restore', file], { variables: { DATA_DIR: join(scratch, 'restored') } })
  const list = ['exhibition', 'list', '--json']
  t.equal(await type(list, { variables: { DATA_DIR: join(scratch, 'restored') } }), await type(list))
  // In a folder without a site.
  const refused = await run(scratch, process.execPath, [portico, 'restore', file], {
    variables: { DATA_DIR: join(scratch, 'plain') },
  }).catch(({ stderr }: { stderr: string }) => stderr)
  t.match(refused, 'migrations that this one does not have, such as "0001-exhibitions".')
})

await t.test('the tests of the site pass', async t => {
  await type(['build'])
  t.match(await run(folder, process.execPath, ['--test', 'dist/site.test.js']), '# fail 0')
})

await t.test('a command builds what has changed, and nothing else', async t => {
  const builtAt = () => statSync(join(folder, 'dist/site.js')).ctimeMs
  const before = builtAt()
  await type(['--version'])
  t.equal(builtAt(), before)
  const source = join(folder, 'site.ts')
  writeFileSync(source, readFileSync(source))
  await type(['--version'])
  t.not(builtAt(), before)
})

await t.test('a site that exports nothing, or has a mistake, is refused without a stack', async t => {
  const wrong = join(scratch, 'wrong')
  mkdirSync(wrong)
  symlinkSync(join(folder, 'node_modules'), join(wrong, 'node_modules'))
  for (const [source, words, expected] of [
    ['export const sit = {}', ['license', 'list'], 'portico: dist/site.js must export "site"'],
    ['export const site = {}', ['dev', '--help'], ''],
    ['export const site = (', ['start'], 'Unexpected end of file'],
  ] as const) {
    writeFileSync(join(wrong, 'site.ts'), `${source}\n`)
    const told = await run(wrong, process.execPath, [portico, ...words], { variables: place }).then(
      () => '',
      ({ stderr }: { stderr: string }) => stderr,
    )
    t.match(told, expected)
    t.notMatch(told, /^ +at /m)
  }
})

await t.test('portico dev serves a change of the site', async t => {
  const origin = await startSite(t, 'dev')
  const source = join(folder, 'site.ts')
  const before = readFileSync(source, 'utf8')
  writeFileSync(source, before.replace('No robots, please.', 'No machines, please.'))
  const ask = async () => await (await fetch(`${origin}/`, { headers: { 'user-agent': 'Robot' } })).text()
  while (!(await ask()).includes('No machines'));
  writeFileSync(source, before)
})

async function startSite(t: Test, word: 'start' | 'dev'): Promise<string> {
  const server = spawn(process.execPath, [portico, word], {
    cwd: folder,
    env: { ...environment, ...place },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(async () => {
    server.kill()
    if (server.exitCode === null) await once(server, 'close')
  })
  for await (const line of createInterface(server.stdout)) {
    const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? []
    if (address !== undefined) return address
  }
  throw new Error('The site has not started.')
}
