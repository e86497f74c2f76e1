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

/** A process that shuts down gracefully after running the program. */
async function run(t: Test, program: string, options: string, close: string) {
  const whole = `import { endInOrder } from '${module}'
    const log = { error: console.error, fatal: error => { console.error('fatal: ' + error.message) } }
    setInterval(() => {}, 1000)
    endInOrder({ log, close: ${close} }, ${options})
    ${program}`
  const child = spawn(process.execPath, [...process.execArgv, '--input-type=module', '--eval', whole], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  return { code, errors }
}

t.test('A process that does not close in time is ended', async t => {
  t.strictSame(await run(t, "process.kill(process.pid, 'SIGTERM')", '{ longest: 10 }', '() => new Promise(() => {})'), {
    code: 1,
    errors: 'Requests were still being handled after 10 ms.\n',
  })
})

t.test('A process that fails to close is ended, and the reason is logged', async t => {
  const { code, errors } = await run(
    t,
    "process.kill(process.pid, 'SIGTERM')",
    '{}',
    "async () => { throw new Error('it is stuck') }",
  )
  t.equal(code, 1)
  t.match(errors, /^Error: it is stuck\n/)
})

t.test('An error while closing does not interrupt the closing', async t => {
  const { code, errors } = await run(
    t,
    "throw new Error('first')",
    '{}',
    `async () => {
    setImmediate(() => { throw new Error('second') })
    await new Promise(resolve => { process.on('uncaughtException', error => { if (error.message === 'second') resolve() }) })
    console.error('closed')
  }`,
  )
  t.equal(code, 1)
  t.match(errors, /^fatal: first\nError: second\n[^]*\nclosed\n$/)
})

t.test('A process whose parent is not the expected one ends', async t => {
  t.strictSame(await run(t, '', '{ parent: process.pid }', 'async () => {}'), { code: 0, errors: '' })
})

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
  const command = `${process.execPath} ${process.execArgv.join(' ')} ${program} 2>${errors}`
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
  writeFileSync(join(folder, 'build.js'), '')
  copyFileSync('dev.js', join(folder, 'dev.js'))
  for (const watched of ['src', 'plugins', 'routes']) mkdirSync(join(folder, watched))
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

t.test('An npm script', { skip, jobs: 2 }, async t => {
  for (const script of ['start', 'dev']) {
    for (const [how, end] of [
      [
        'its terminal is closed',
        child => {
          child.kill('SIGKILL')
        },
      ],
      [
        'Ctrl-C is pressed twice',
        child => {
          child.stdin?.write('\x03\x03')
        },
      ],
      [
        'npm is killed',
        child => {
          for (const npm of childrenOf(child)) process.kill(npm, 'SIGKILL')
        },
      ],
      [
        'npm gets a SIGHUP',
        child => {
          for (const npm of childrenOf(child)) process.kill(npm, 'SIGHUP')
        },
      ],
    ] as Array<[string, (child: ChildProcess) => void]>) {
      t.test(`npm run ${script} leaves no process behind when ${how}`, { buffered: true }, async t => {
        const { child, allEnded } = await runScript(t, script)
        end(child)
        t.ok(await allEnded)
      })
    }
  }
})
