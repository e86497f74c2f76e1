/**
 * What profiling costs beside what people use today: an application alone, with the flag, with @fastify/otel (HTTP, pg
 * and pino, spans that leave in batches), and with @sentry/node (tracing and logs). All run in turn, each in a process
 * of its own, which is started anew a few times: requests through 10 hooks alone, with 5 queries and 5 log lines, and
 * with an error. The first start has no profiles to read, and all others have 10,000. Installs them from the registry,
 * and needs PostgreSQL at POSTGRES_URL.
 */
import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    /** How often all processes are started, because what V8 compiles differs between processes by chance. */
    generations: { type: 'string', default: '3' },
    /** In each generation, after a first one that warms up. */
    rounds: { type: 'string', default: '6' },
    memory: { type: 'string', default: '100000' },
  },
})

const packages = [
  'fastify',
  'pg',
  '@fastify/otel',
  '@opentelemetry/sdk-node',
  '@opentelemetry/instrumentation-http',
  '@opentelemetry/instrumentation-pg',
  '@opentelemetry/instrumentation-pino',
  '@opentelemetry/exporter-trace-otlp-proto',
  '@sentry/node',
]

/** Requests of one route in a round. Many, since the others' turns leave the processor's caches cold. */
const requestsEach = 3000
const connections = 8

/** Bytes that a process uses. */
interface Memory {
  memory: number
  heap: number
}

/** The routes of the application, by what they do in its 10 hooks. */
const routes = { '/plain': 'nothing', '/rooms/7': '5 queries, 5 lines', '/error': 'an error' }
type Path = keyof typeof routes
const paths: readonly Path[] = ['/plain', '/rooms/7', '/error']

/** What a request took: microseconds of CPU in a round each, and how many were answered in a second. */
interface Taken {
  cpu: number[]
  rate: number[]
}

/** A variant, and what it took in all generations. */
interface Variant {
  name: string
  flags: string[]
  /** Microseconds of CPU until it listens. */
  starts: number[]
  taken: Record<Path, Taken>
  ended?: Memory
}

interface Running {
  variant: Variant
  child: ChildProcess
  port: number
}

const none = (): Taken => ({ cpu: [], rate: [] })
const variant = (name: string, ...flags: string[]): Variant => {
  return { name, flags, starts: [], taken: { '/plain': none(), '/rooms/7': none(), '/error': none() } }
}
const variants = [
  variant('the application alone'),
  variant('fastify-profiler', '--import', 'fastify-profiler/register'),
  variant('@fastify/otel', '--import', './otel.js'),
  variant('@sentry/node', '--import', './sentry.js'),
]

const workspace = join(import.meta.dirname, '../..')
const scratch = mkdtempSync(join(tmpdir(), 'fastify-profiler-cost-'))
const agent = new Agent({ keepAlive: true, maxSockets: connections })

// Takes the spans and events, as a collector on the same machine would.
const collector = createServer((request, response) => {
  request.resume().on('end', () => response.end('{}'))
}).listen(0, '127.0.0.1')
await once(collector, 'listening')

try {
  install()
  for (let left = Number(values.generations); left > 0; left--) {
    const running: Running[] = []
    for (const each of variants) running.push(await start(each))
    for (let round = 0; round <= Number(values.rounds); round++) {
      for (const each of running) await measure(each, round > 0)
    }
    if (left === 1) for (const each of running) await fill(each)
    for (const { child } of running) child.kill('SIGKILL')
  }
  print()
} finally {
  collector.close()
  agent.destroy()
  rmSync(scratch, { recursive: true, force: true })
}

function install(): void {
  const run = (folder: string, ...args: string[]) => {
    execFileSync('npm', [...args, '--loglevel=error'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  cpSync(join(workspace, 'bench/cost'), scratch, { recursive: true })
  writeFileSync(join(scratch, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  run(workspace, 'pack', '--pack-destination', scratch)
  const tarball = String(readdirSync(scratch).find(name => name.endsWith('.tgz')))
  run(scratch, 'install', '--no-audit', '--no-fund', `./${tarball}`, ...packages)
}

async function start(variant: Variant): Promise<Running> {
  const { POSTGRES_URL = 'postgres://postgres@127.0.0.1:5432/postgres' } = process.env
  const child = fork('app.js', {
    cwd: scratch,
    execArgv: ['--expose-gc', ...variant.flags],
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      POSTGRES_URL,
      SINK: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const [{ port, cpu }] = await once(child, 'message')
  variant.starts.push(cpu)
  return { variant, child, port }
}

/** Sends a round of requests to each route. */
async function measure(running: Running, counts: boolean): Promise<void> {
  for (const path of paths) {
    const before = await ask(running, 'cpu')
    const began = performance.now()
    await send(running, path, requestsEach)
    const seconds = (performance.now() - began) / 1000
    const after = await ask(running, 'cpu')
    if (!counts) continue
    const taken = running.variant.taken[path]
    taken.cpu.push((after - before) / requestsEach)
    taken.rate.push(requestsEach / seconds)
  }
}

/** Sends the rest of the requests after which the memory counts. */
async function fill(running: Running): Promise<void> {
  const sent = (Number(values.rounds) + 1) * paths.length * requestsEach
  await send(running, '/rooms/7', Math.max(0, Number(values.memory) - sent))
  running.variant.ended = await ask(running, 'memory')
}

async function ask(running: Running, what: 'cpu'): Promise<number>
async function ask(running: Running, what: 'memory'): Promise<Memory>
async function ask({ child }: Running, what: string): Promise<unknown> {
  child.send(what)
  const [answer] = await once(child, 'message')
  return answer
}

async function send({ port }: Running, path: string, requests: number): Promise<void> {
  let left = requests
  const sendNext = async () => {
    while (left-- > 0) {
      const [response] = await once(get({ agent, port, path, host: '127.0.0.1' }), 'response')
      await once(response.resume(), 'end')
    }
  }
  await Promise.all(Array.from({ length: connections }, sendNext))
}

function print(): void {
  const [alone] = variants
  const { generations, rounds, memory } = values
  console.log(
    `${generations} generations of ${rounds} rounds in turn, ${requestsEach} requests each; memory after ${memory} requests`,
  )
  console.log(row(['10 hooks, and', ...paths.map(path => routes[path]), 'memory, heap', 'start (CPU)']))
  for (const each of variants) {
    const { ended, name, starts, taken } = each
    const figures = paths.map(path => {
      const cpu = median(taken[path].cpu)
      const more = each === alone ? '' : ` (+${(cpu - median(alone?.taken[path].cpu ?? [])).toFixed(0)})`
      return `${cpu.toFixed(0)} µs${more}, ${median(taken[path].rate).toFixed(0)}/s`
    })
    const used = `${megabytes(ended?.memory)}, ${megabytes(ended?.heap)} MB`
    console.log(row([name, ...figures, used, `${Math.round(median(starts) / 1000)} ms`]))
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN
}

function megabytes(bytes = NaN): string {
  return (bytes / 1e6).toFixed(0)
}

function row(cells: readonly string[]): string {
  return cells.map((cell, index) => cell.padEnd([24, 26, 26, 26, 16][index] ?? 0)).join('')
}
