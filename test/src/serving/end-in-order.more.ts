import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { makeFolder } from '../../support/folder.ts'
import { createDatabase, makeEmbeddedFolder, serverUrl } from '../../support/test-database.ts'
import { uncountedNode } from '../../support/uncounted.ts'

const module = new URL('../../../src/serving/end-in-order.js', import.meta.url).href

const terminated = "process.kill(process.pid, 'SIGTERM')"
for (const [what, program, options, close, code, errors] of [
  [
    'that does not close in time is ended',
    terminated,
    '{ longest: 10 }',
    '() => new Promise(() => {})',
    1,
    /^Requests were still being handled after 10 ms\.\n$/,
  ],
  [
    'that fails to close is ended, and the reason is logged',
    terminated,
    '{}',
    "async () => { throw new Error('it is stuck') }",
    1,
    /^Error: it is stuck\n/,
  ],
  [
    'in which an error is thrown while it closes closes nevertheless',
    "throw new Error('first')",
    '{}',
    `async () => {
      setImmediate(() => { throw new Error('second') })
      await new Promise(resolve => { process.on('uncaughtException', error => { if (error.message === 'second') resolve() }) })
      console.error('closed')
    }`,
    1,
    /^fatal: first\nError: second\n[^]*\nclosed\n$/,
  ],
  ['whose parent is not the expected one ends', '', '{ parent: process.pid }', 'async () => {}', 0, /^$/],
] as const) {
  t.test(`A process ${what}`, async t => {
    const whole = `import { endInOrder } from '${module}'
      const log = { error: console.error, fatal: error => { console.error('fatal: ' + error.message) } }
      setInterval(() => {}, 1000)
      endInOrder({ log, close: ${close} }, ${options})
      ${program}`
    const child = spawn('env', [...uncountedNode, '--input-type=module', '--eval', whole], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    t.teardown(() => child.kill('SIGKILL'))
    const [told, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'close')])
    t.equal(exitCode, code)
    t.match(told, errors)
  })
}

t.test('A forked process ends with its parent', async t => {
  const program = `import { endInOrder } from '${module}'
    setInterval(() => {}, 1000)
    endInOrder({ close: async () => {} })
    process.send('ready')`
  const child = spawn('env', [...uncountedNode, '--input-type=module', '--eval', program], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child, 'message')
  const ended = once(child, 'exit')
  child.disconnect()
  t.strictSame(await ended, [0, null])
})

const terminal = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') === true
const skip = !terminal && "it needs util-linux's script to open a terminal"
const databaseUrl = serverUrl && (await createDatabase(t, serverUrl))

t.test('A process whose terminal closes shuts down without an abort', { skip }, async t => {
  const folder = makeFolder(t)
  const program = join(folder, 'program.mjs')
  const errors = join(folder, 'errors')
  writeFileSync(
    program,
    `import { endInOrder } from '${module}'
    setInterval(() => {}, 1000)
    endInOrder({ close: async () => { console.error('closed') } })
    process.on('exit', code => { console.error('exit ' + code) })
    process.stdout.write('ready')`,
  )
  // Stderr is a file and not the terminal: Node would report an abort there.
  const command = `env ${uncountedNode.join(' ')} ${program} 2>${errors}`
  const child = spawn('script', ['--quiet', '--command', command, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const { 1: output, 3: inherited } = child.stdio
  if (output === null || !(inherited instanceof Readable)) throw new Error('There is no pipe.')
  const allEnded = once(inherited.resume(), 'close')
  await once(output, 'data')
  child.kill('SIGKILL')
  await allEnded
  t.equal(readFileSync(errors, 'utf8'), 'closed\nexit 0\n')
})

/** Runs a script of package.json in a terminal. It skips the build, whose output is there. */
async function runScript(t: Test, script: string) {
  const folder = makeFolder(t)
  copyFileSync('package.json', join(folder, 'package.json'))
  symlinkSync(join(process.cwd(), 'dist'), join(folder, 'dist'))
  writeFileSync(join(folder, 'build.js'), 'export async function build() {}')
  for (const file of ['dev.js', 'portico.js']) copyFileSync(file, join(folder, file))
  for (const watched of ['cli', 'packages', 'plugins', 'routes', 'src']) mkdirSync(join(folder, watched))
  const env = {
    ...process.env,
    NODE_OPTIONS: '',
    DATA_DIR: makeEmbeddedFolder(t),
    DATABASE_URL: databaseUrl,
    PORT: '0',
  }
  const child = spawn('script', ['--quiet', '--command', `npm run ${script}`, '/dev/null'], {
    cwd: folder,
    env,
    stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  // Every process that it starts keeps this pipe open, and none writes to it.
  const { 3: inherited } = child.stdio
  if (!(inherited instanceof Readable)) throw new Error('There is no pipe.')
  const allEnded = once(inherited.resume(), 'close')
  let output = ''
  if (child.stdout === null) throw new Error('There is no output.')
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    output += String(chunk)
    // The last line of the start on a terminal.
    if (output.includes('No users yet')) break
  }
  child.stdout.resume()
  return { child, allEnded }
}

/** The child processes of a process. */
function childrenOf({ pid }: Pick<ChildProcess, 'pid'>): number[] {
  return spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
    .stdout.trim()
    .split(/\s+/)
    .map(Number)
}

/** What ends an npm script. */
const ends: Record<string, (child: ChildProcess) => unknown> = {
  'its terminal is closed': child => child.kill('SIGKILL'),
  'Ctrl-C is pressed twice': child => child.stdin?.write('\x03\x03'),
  'npm is killed': child => childrenOf(child).map(npm => process.kill(npm, 'SIGKILL')),
  'npm gets a SIGHUP': child => childrenOf(child).map(npm => process.kill(npm, 'SIGHUP')),
}

t.test('An npm script', { skip, jobs: 2 }, async t => {
  for (const script of ['start', 'dev']) {
    for (const [how, end] of Object.entries(ends)) {
      t.test(`npm run ${script} leaves no process behind when ${how}`, { buffered: true }, async t => {
        const { child, allEnded } = await runScript(t, script)
        end(child)
        t.ok(await allEnded)
      })
    }
  }
})
