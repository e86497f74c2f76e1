import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import pg from 'pg'
import t, { type Test } from 'tap'
import { openDatabase } from '../src/database/database.ts'
import { makeFolder } from './support/folder.ts'
import { addLicense } from './support/site.ts'
import { createDatabase, makeEmbeddedFolder, serverUrl } from './support/test-database.ts'
import { uncountedNode } from './support/uncounted.ts'

const file = fileURLToPath(new URL('../server.js', import.meta.url))

// All servers open the same database, one after another: making an embedded one takes seconds.
const folder = makeEmbeddedFolder(t)
const databaseUrl = serverUrl && (await createDatabase(t, serverUrl))
const database = await openDatabase({ databaseUrl, dataDir: folder })
await addLicense(database, { domain: 'museum.test', name: 'Louvre' })
await database.close()

interface Start {
  environment?: Record<string, string>
  cwd?: string
  /** Options for Node. */
  options?: string[]
  /** A shell's command that runs first. */
  before?: string
}

/** The server as a child process, killed after the test if it still runs. */
function start(t: Test, { environment = {}, cwd = folder, options = [], before = ':' }: Start = {}) {
  const env = { ...process.env, DATA_DIR: folder, PORT: '0', DATABASE_URL: databaseUrl, ...environment }
  const typed = ['-c', `${before}; exec "$@"`, 'sh', 'env', ...uncountedNode, ...options, file]
  const child = spawn('sh', typed, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  let log = ''
  child.stdout.on('data', chunk => {
    log += String(chunk)
  })
  const errors = text(child.stderr)
  const ended = once(child, 'close')

  return {
    child,
    /** Waits for a log line that matches, and returns the match. */
    async logged(pattern: RegExp): Promise<RegExpExecArray> {
      for (;;) {
        const match = pattern.exec(log)
        if (match !== null) return match
        if (child.exitCode !== null) throw new Error(`The server ended: ${await errors}`)
        await Promise.race([once(child.stdout, 'data'), ended])
      }
    },
    async port(): Promise<number> {
      const [, port] = await this.logged(/Server listening at http:\/\/127\.0\.0\.1:(\d+)/)
      return Number(port)
    },
    async end() {
      const [code, signal] = await ended
      return { code, errors: await errors, ...(signal !== null && { signal }) }
    },
  }
}

/** What a server prints that fails to start. */
async function refusal(t: Test, how: Start) {
  const { code, errors } = await start(t, how).end()
  t.equal(code, 1)
  t.match(errors, /^portico: [^\n]+\n$/, 'the message is one line')
  return errors
}

/** Sends a request on its own connection, and returns the answer once the server closes it. */
function request(port: number, head: string) {
  const socket = connect(port, '127.0.0.1')
  socket.write(head)
  return { socket, answer: text(socket) }
}

const get = 'GET / HTTP/1.1\r\nHost: museum.test\r\n'

t.test('SIGINT ends the server gracefully, even if an answered client keeps its connection open', async t => {
  const server = start(t)
  const { socket, answer } = request(await server.port(), `${get}\r\n`)
  await once(socket, 'data')
  server.child.kill('SIGINT')
  t.strictSame(await server.end(), { code: 0, errors: '' })
  t.match(await answer, /^HTTP\/1\.1 200 OK\r\n/)
})

for (const [what, ...signals] of [
  ['SIGTERM', 'SIGTERM'],
  ['SIGTERM, even if a terminal sends SIGINT too,', 'SIGTERM', 'SIGINT'],
  ['SIGHUP', 'SIGHUP'],
] as const) {
  t.test(`A request in progress at ${what} is answered before the server ends`, async t => {
    const server = start(t)
    const { answer } = request(await server.port(), `${get}\r\n`)
    await server.logged(/incoming request/)
    for (const signal of signals) server.child.kill(signal)
    t.match(await answer, /^HTTP\/1\.1 200 OK\r\n[^]*Louvre/)
    t.strictSame(await server.end(), { code: 0, errors: '' })
  })
}

t.test('SIGSEGV ends the server at once', async t => {
  const server = start(t)
  await server.port()
  server.child.kill('SIGSEGV')
  t.strictSame(await server.end(), { code: null, signal: 'SIGSEGV', errors: '' })
})

t.test('An uncaught error is logged and ends the server gracefully', async t => {
  const thrower = "process.on('SIGUSR2', () => { throw new Error('nobody caught it') })"
  const server = start(t, { options: [`--import=data:text/javascript,${encodeURIComponent(thrower)}`] })
  const { answer } = request(await server.port(), `${get}\r\n`)
  await server.logged(/incoming request/)
  server.child.kill('SIGUSR2')
  t.match(await answer, /^HTTP\/1\.1 200 OK\r\n[^]*Louvre/)
  t.strictSame(await server.end(), { code: 1, errors: '' })
  t.ok(await server.logged(/"level":60,[^\n]*nobody caught it/))
})

t.test(
  'A request waiting for the database at SIGTERM is answered',
  {
    skip:
      databaseUrl === undefined &&
      'it needs TEST_DATABASE_URL: only the server can lock a table of an embedded database',
  },
  async t => {
    const server = start(t)
    const port = await server.port()
    const other = new pg.Client(databaseUrl)
    t.teardown(() => other.end())
    await other.connect()
    await other.query('begin; lock table licenses')
    const { answer } = request(port, `${get}\r\n`)
    await server.logged(/incoming request/)
    server.child.kill('SIGTERM')
    while (await isListening(port));
    server.child.kill('SIGTERM')
    await other.query('commit')
    t.match(await answer, /^HTTP\/1\.1 200 OK\r\n[^]*Louvre/)
    t.strictSame(await server.end(), { code: 0, errors: '' })
  },
)

t.test(
  'A server whose embedded database cannot write its log ends with a line that says why',
  { skip: databaseUrl !== undefined && 'it needs an embedded database' },
  async t => {
    // Less than the 16 MiB of a segment of the log, in blocks of 512 bytes, or of 1,024 in some shells.
    const server = start(t, { before: 'ulimit -f 16000' })
    await server.port()
    const { db, close } = await openDatabase({ databaseUrl: undefined, dataDir: folder, patient: true })
    const fillLog = async () => {
      for (let segments = 0; segments < 20; segments++) {
        await db.insertInto('platforms').values({ name: randomUUID() }).execute()
        await sql`select pg_switch_wal()`.execute(db)
      }
    }
    await t.rejects(fillLog(), { cause: { severity: 'PANIC', message: /File too large/ } })
    await close()
    t.strictSame(await server.end(), { code: 1, errors: '' })
    const [line] = await server.logged(/"level":60,[^\n]*/)
    t.match(line, /The embedded database in [^\n]* has failed: [^\n]*: File too large \(its disk has [\d,]+ MB left\)/)
  },
)

t.test('A killed process loses no acknowledged write', async t => {
  const writer = fileURLToPath(new URL('./support/write-until-killed.js', import.meta.url))
  const child = spawn('env', [...uncountedNode, writer, folder, ...(databaseUrl === undefined ? [] : [databaseUrl])], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let written: string[] = []
  for await (const chunk of child.stdout) {
    // The last line may be incomplete.
    written = [
      ...written,
      ...String(chunk)
        .split('\n')
        .filter(name => name.length === 36),
    ]
    if (written.length >= 20) child.kill('SIGKILL')
  }
  const { db, close } = await openDatabase({ databaseUrl, dataDir: folder })
  const kept = await db.selectFrom('platforms').select('name').where('name', 'in', written).execute()
  await close()
  t.ok(written.length >= 20)
  t.equal(kept.length, written.length)
})

t.test('The .env file of the working directory is read', async t => {
  const cwd = makeFolder(t)
  writeFileSync(join(cwd, '.env'), 'LOG_LEVEL=loud\n')
  t.match(await refusal(t, { cwd }), /^portico: LOG_LEVEL must be one of/)
})

for (const [what, environmentOf, sentenceOf] of [
  ['An invalid variable', () => ({ PORT: 'http' }), () => 'PORT must be a port number from 0 to 65535.'],
  [
    'A host of another machine, before an embedded database is made,',
    () => ({ HOST: '192.0.2.1', DATABASE_URL: '', DATA_DIR: '/nowhere' }),
    () => 'HOST cannot be used: listen EADDRNOTAVAIL: address not available 192.0.2.1.',
  ],
  [
    'A port in use',
    port => ({ PORT: port }),
    port => `HOST and PORT cannot be used: listen EADDRINUSE: address already in use 127.0.0.1:${port}.`,
  ],
  [
    'A metrics port in use',
    port => ({ METRICS_PORT: port }),
    port =>
      `METRICS_HOST and METRICS_PORT cannot be used: listen EADDRINUSE: address already in use 127.0.0.1:${port}.`,
  ],
] as [string, (port: string) => Record<string, string>, (port: string) => string][]) {
  t.test(`${what} stops the start with a line that says so`, async t => {
    const other = createServer()
    const port = await portOf(other)
    t.teardown(() => other.close())
    t.equal(await refusal(t, { environment: environmentOf(port) }), `portico: ${sentenceOf(port)}\n`)
  })
}

t.test('An unreachable database stops the start with a line that says so', async t => {
  const unused = createServer()
  const port = await portOf(unused)
  unused.close()
  await once(unused, 'close')
  const DATABASE_URL = `postgres://portico:hunter2@127.0.0.1:${port}/portico`
  t.equal(
    await refusal(t, { environment: { DATABASE_URL } }),
    `portico: The database of DATABASE_URL cannot be used: connect ECONNREFUSED 127.0.0.1:${port}.\n`,
  )
})

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const isConnected = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return isConnected
}

/** Lets a server listen. @returns its port */
async function portOf(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server does not listen on a port.')
  return String(address.port)
}
