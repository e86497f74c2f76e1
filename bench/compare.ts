import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { inNoOrder, withoutDate } from './capture.ts'
import { LoadConnection, requestText } from './load-connection.ts'
import type { Usage } from './measurable.ts'

/** One row of a comparison: a server and the request that it gets. */
export interface Row {
  name: string
  /** The name of a file in servers/. */
  server: string
  options?: object
  request: BenchRequest
  /** Whether to measure the row outside the others' turns, because its server works on after it has answered. */
  apart?: boolean
  /** The expected answer, in any order of headers. Rows are comparable only if they answer the same. */
  answer?: string
}

export interface BenchRequest {
  path: string
  headers: Record<string, string>
  /** The expected status. */
  status: number
  /** Whether each request goes to a new host: cold-0.example and so on. */
  cold?: boolean
}

/** The size of a comparison. */
export interface Effort {
  /** How often all processes are restarted, because V8's optimisations differ between processes by chance. */
  generations: number
  /** Rounds per generation. Each server has one turn per round, because the machine's speed changes over time. */
  rounds: number
  /** Requests per turn. Many, so that the processor's cold caches after the others' turns do not matter. */
  requests: number
  /** Requests before measuring, until hot code is compiled. */
  warmUp: number
  connections: number
}

/** The measurements of a row. */
export interface Measures {
  row: Row
  /** Microseconds of CPU per request in each round. Includes what the process does during the others' turns. */
  costs: number[]
  /** Requests per second in each round. */
  rates: number[]
  /** Nanoseconds from a request to the end of its answer. */
  latencies: RecordableHistogram
  /** Milliseconds from the start of the process to its first answer, in each generation. */
  starts: number[]
  /** Bytes after the first answer and after the last round, in each generation. */
  idleMemory: number[]
  memory: number[]
}

/** Milliseconds to wait after each round, because work after an answer counts, too. */
const afterwork = 50

/** Starts a row's server and returns the bytes of its answer. */
export async function answerOf(row: Row): Promise<string> {
  const runner = await Runner.start(begin(row))
  try {
    return await runner.capture()
  } finally {
    await runner.stop()
  }
}

/**
 * Measures the rows side by side. Each has its own process, since servers in one process distort each other. They take
 * turns, so that other load on the machine affects all of them. The requests come from this process, so the client's
 * cost is not counted.
 */
export async function compare(rows: readonly Row[], effort: Effort): Promise<Measures[]> {
  // Ctrl-C ends the servers, too. Then the comparison fails and cleans up.
  process.once('SIGINT', () => {})
  const all = rows.map(begin)
  for (let generation = 0; generation < effort.generations; generation++) await measureGeneration(all, effort)
  return all
}

/**
 * Keeps this process from sleeping. Servers pay for waking a sleeping client, and slow servers pay more often.
 * @returns a function that lets the process sleep again
 */
function stayAwake(): () => void {
  let turn = setImmediate(function next() {
    turn = setImmediate(next)
  })
  return () => {
    clearImmediate(turn)
  }
}

function begin(row: Row): Measures {
  return { row, costs: [], rates: [], latencies: createHistogram(), starts: [], idleMemory: [], memory: [] }
}

async function measureGeneration(all: readonly Measures[], effort: Effort): Promise<void> {
  const runners: Runner[] = []
  let rest = () => {}
  try {
    for (const measures of all) runners.push(await Runner.start(measures))
    rest = stayAwake()
    await warmUp(runners, effort)
    for (let round = 0; round < effort.rounds; round++) {
      await measureRound(
        runners.filter(({ measures }) => measures.row.apart !== true),
        effort,
      )
      for (const runner of runners) if (runner.measures.row.apart === true) await measureRound([runner], effort)
    }
    for (const runner of runners) await runner.finish()
  } finally {
    rest()
    for (const runner of runners) await runner.stop()
  }
}

/** Warms up in turns, or a server would close its idle connections during the others' warm-up. */
async function warmUp(runners: readonly Runner[], { warmUp, requests, connections }: Effort): Promise<void> {
  for (let left = warmUp; left > 0; left -= requests) {
    for (const runner of runners) await runner.ask(Math.min(left, requests), connections)
  }
  await sleep(afterwork)
}

async function measureRound(runners: readonly Runner[], effort: Effort): Promise<void> {
  for (const runner of runners) await runner.beginRound()
  // A random order, so that no server is always first or always after the same one.
  const drawn = runners.map(runner => ({ runner, lot: Math.random() })).sort((one, other) => one.lot - other.lot)
  for (const { runner } of drawn) await runner.takeTurn(effort)
  await sleep(afterwork)
  for (const runner of runners) await runner.endRound(effort)
}

class Runner {
  readonly measures: Measures
  readonly #child: ChildProcess
  /** Rejects if the process ends early. */
  readonly #ended: Promise<never>
  readonly #connections: LoadConnection[] = []
  readonly #request: string
  #port = NaN
  #asked = 0
  /** Microseconds of CPU that the process had used before this round. */
  #cpu = 0

  private constructor(measures: Measures, child: ChildProcess) {
    const {
      name,
      request: { path, headers },
    } = measures.row
    this.measures = measures
    this.#child = child
    this.#request = requestText(path, headers)
    this.#ended = once(child, 'exit').then(() => {
      throw new Error(`The process of "${name}" ended. See its output above.`)
    })
    // Handled by Promise.race() wherever something is awaited.
    this.#ended.catch(() => {})
  }

  static async start(measures: Measures): Promise<Runner> {
    const { server, options = {} } = measures.row
    const began = performance.now()
    const runner = new Runner(
      measures,
      fork(fileURLToPath(new URL('serve.js', import.meta.url)), [server, JSON.stringify(options)]),
    )
    runner.#port = (await runner.#told()).port
    await runner.#askOnce(runner.#connection(0))
    measures.starts.push(performance.now() - began)
    measures.idleMemory.push((await runner.#usage()).memory)
    await runner.#assertSame()
    return runner
  }

  async beginRound(): Promise<void> {
    this.#cpu = (await this.#usage()).cpu
  }

  async takeTurn({ requests, connections }: Effort): Promise<void> {
    const began = performance.now()
    await this.ask(requests, connections, this.measures.latencies)
    this.measures.rates.push((requests / (performance.now() - began)) * 1000)
  }

  async endRound({ requests }: Effort): Promise<void> {
    this.measures.costs.push(((await this.#usage()).cpu - this.#cpu) / requests)
  }

  async finish(): Promise<void> {
    this.measures.memory.push((await this.#usage()).memory)
  }

  async stop(): Promise<void> {
    for (const connection of this.#connections) connection.close()
    if (this.#child.exitCode !== null) return
    const exit = once(this.#child, 'exit')
    this.#child.disconnect()
    await exit
  }

  async capture(): Promise<string> {
    return withoutDate(await this.#connection(0).ask(this.#request))
  }

  async #assertSame(): Promise<void> {
    const { name, answer } = this.measures.row
    if (answer === undefined) return
    const captured = await this.capture()
    if (inNoOrder(captured) !== inNoOrder(answer)) {
      throw new Error(`"${name}" answers:\n${captured}\ninstead of:\n${answer}`)
    }
  }

  /** Sends this number of requests, one after another on each connection. */
  async ask(count: number, connections: number, latencies?: RecordableHistogram): Promise<void> {
    let left = count
    await Promise.race([
      this.#ended,
      Promise.all(
        Array.from({ length: connections }, async (_, place) => {
          const connection = this.#connection(place)
          while (left-- > 0) await this.#askOnce(connection, latencies)
        }),
      ),
    ])
  }

  #connection(place: number): LoadConnection {
    this.#connections[place] ??= new LoadConnection(this.#port)
    return this.#connections[place]
  }

  async #askOnce(connection: LoadConnection, latencies?: RecordableHistogram): Promise<void> {
    const {
      name,
      request: { path, headers, status, cold = false },
    } = this.measures.row
    const request = cold ? requestText(path, { ...headers, host: `cold-${this.#asked}.example` }) : this.#request
    this.#asked++
    const began = performance.now()
    const answer = await connection.ask(request)
    latencies?.record(Math.max(1, Math.round((performance.now() - began) * 1e6)))
    if (!answer.startsWith(String(status), 'HTTP/1.1 '.length)) {
      throw new Error(`"${name}" did not answer with status ${status}:\n${answer}`)
    }
  }

  async #usage(): Promise<Usage> {
    this.#child.send('usage')
    return this.#told()
  }

  async #told(): Promise<Usage & { port: number }> {
    const [message]: Array<Partial<Usage & { port: number }>> = await Promise.race([
      once(this.#child, 'message'),
      this.#ended,
    ])
    return { port: Number(message?.port), cpu: Number(message?.cpu), memory: Number(message?.memory) }
  }
}
