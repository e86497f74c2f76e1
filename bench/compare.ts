import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'

/** One row of a comparison: an application, and what is asked of it. */
export interface Variant {
  name: string
  /** Called in a process of its own. What only this variant needs it should import here, not at the top of the file. */
  build: () => Promise<FastifyInstance>
  url?: string
  headers?: Record<string, string>
}

/** What a variant's process tells. */
interface Report {
  port?: number
  /** Microseconds, since it began. */
  cpu?: number
}

const rounds = 7
/** Rounds before those that count: until the code that runs most is compiled. */
const warmUps = 3
const requestsPerRound = 1500
const connections = 8

/** However slow the machine is, no further round begins after this many milliseconds. */
const patience = 20_000

/** A profile is stored once its answer is out: that belongs to the request too. */
const afterwork = 50

/**
 * Prints the microseconds of CPU that each variant takes for a request, and their ratio to the first one. Each is
 * a process of its own, since applications in one process distort each other, and the rounds alternate, so
 * that what else happens on the machine meets all of them. The requests come from this process: what they
 * cost on the client's side is not counted. `file` is the calling module's `import.meta.url`, which is run again.
 */
export async function compare (file: string, variants: readonly Variant[]): Promise<void> {
  const [, , wanted] = process.argv
  const own = variants.find(({ name }) => name === wanted)
  if (own === undefined) await lead(fileURLToPath(file), variants)
  else await serve(own)
}

async function serve ({ build }: Variant): Promise<void> {
  const app = await build()
  process.on('disconnect', () => { app.close() })
  process.on('message', async () => {
    await sleep(afterwork)
    const { user, system } = process.cpuUsage()
    tell({ cpu: user + system })
  })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  tell({ port: Number(new URL(origin).port) })
}

function tell (report: Report): void {
  process.send?.(report)
}

interface Runner {
  variant: Variant
  child: ChildProcess
  /** Rejects when the process ends before its time. */
  ended: Promise<never>
  port: AddressInfo['port']
  /** Microseconds of CPU a request, one for each round. */
  costs: number[]
}

async function lead (file: string, variants: readonly Variant[]): Promise<void> {
  const runners: Runner[] = []
  try {
    for (const variant of variants) {
      const child = fork(file, [variant.name])
      const ended = once(child, 'exit').then(() => { throw new Error(`The process of "${variant.name}" ended; what it wrote above says why.`) })
      runners.push({ variant, child, ended, port: await told(child, ended, 'port'), costs: [] })
    }
    const deadline = performance.now() + patience
    for (let round = -warmUps; round < rounds && performance.now() < deadline; round++) {
      for (const runner of runners) {
        const cost = await measure(runner)
        if (round >= 0) runner.costs.push(cost)
      }
    }
  } finally {
    for (const { child } of runners) child.disconnect()
  }
  print(runners)
}

async function told (child: ChildProcess, ended: Promise<never>, what: keyof Report): Promise<number> {
  const [report]: unknown[] = await Promise.race([once(child, 'message'), ended])
  return Number(Reflect.get(Object(report), what))
}

async function measure (runner: Runner): Promise<number> {
  const { variant, port } = runner
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const { url = '/', headers = {} } = variant
  const ask = () => new Promise<void>((resolve, reject) => {
    get({ port, agent, headers, path: url, host: '127.0.0.1' }, response => {
      if (response.statusCode !== 200) reject(new Error(`"${variant.name}" answered ${response.statusCode}.`))
      response.resume().on('end', resolve)
    }).on('error', reject)
  })
  const before = await cpuOf(runner)
  let left = requestsPerRound
  await Promise.all(Array.from({ length: connections }, async () => {
    while (left-- > 0) await ask()
  }))
  const cost = (await cpuOf(runner) - before) / requestsPerRound
  agent.destroy()
  return cost
}

async function cpuOf ({ child, ended }: Runner): Promise<number> {
  child.send('cpu')
  return told(child, ended, 'cpu')
}

function print (runners: readonly Runner[]): void {
  const [first] = runners
  const reference = median(first?.costs ?? [])
  const width = Math.max(...runners.map(({ variant }) => variant.name.length))
  console.log(`µs of CPU a request, Node ${process.versions.node}: median of ${first?.costs.length} rounds of ${requestsPerRound} requests, least and most`)
  for (const { variant, costs } of runners) {
    const cost = median(costs)
    const range = `${Math.round(Math.min(...costs))} to ${Math.round(Math.max(...costs))}`
    const difference = `${cost < reference ? '' : '+'}${Math.round(cost - reference)} µs`
    console.log(`${variant.name.padEnd(width)}  ${String(Math.round(cost)).padStart(5)}  ${range.padStart(12)}  × ${(cost / reference).toFixed(2)}  ${difference.padStart(9)}`)
  }
}

function median (numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? NaN
}
