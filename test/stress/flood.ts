/** A million made-up hosts: their cost in memory, queries and the latency of known hosts. */
import pg from 'pg'
import { setTimeout as sleep } from 'node:timers/promises'
import { LoadConnection, requestText } from '../../bench/load-connection.ts'
import { dropDatabase, environmentOf } from '../../bench/bench-database.ts'
import { quantile } from '../../bench/quantile.ts'
import { makeServerDatabase, serve, statusOf } from './serving.ts'
import { count, tellCounts } from './statuses.ts'

const [, , stated = '1000000'] = process.argv
const hosts = Number(stated)
const licenses = 100_000
const connections = 64
/** Milliseconds to ask the known host before the flood, and for PostgreSQL to report its statistics. */
const quiet = 5000

interface Answers {
  /** Milliseconds. */
  times: number[]
  refused: number
}

/** The number of cold hosts asked for. */
let asked = 0

const bench = await makeServerDatabase(licenses)
const server = await serve(environmentOf(bench))
const counter = new pg.Client(bench.url)
await counter.connect()
try {
  const before = await watched(() => sleep(quiet))
  print('before', before)
  const memory = await server.memory()
  const queriesBefore = await queriesSoFar()
  let peak = 0
  const watch = setInterval(async () => {
    peak = Math.max(peak, await server.memory())
  }, 1000)
  const statuses = new Map<number, number>()
  const flood = await watched(() => send(statuses))
  clearInterval(watch)
  const queries = (await queriesSoFar()) - queriesBefore
  print('flood', flood)
  console.log(
    `${hosts} hosts without a license, beside ${licenses} licenses, over ${connections} connections: ${tellCounts(statuses)}`,
  )
  console.log(`  ${flood.seconds.toFixed(0)} s, ${(hosts / flood.seconds).toFixed(0)} answers per second`)
  console.log(
    `  ${queries} queries, ${(queries / flood.seconds).toFixed(0)} per second, ${(queries / hosts).toFixed(4)} per host`,
  )
  console.log(
    `  memory ${memory.toFixed(0)} MB before, ${peak.toFixed(0)} MB at most, ${(await server.memory()).toFixed(0)} MB after`,
  )
} finally {
  await server.close()
  await counter.end()
  await dropDatabase(bench)
}

async function send(statuses: Map<number, number>): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = new LoadConnection(server.port)
      while (next < hosts) {
        const status = statusOf(await connection.ask(requestText('/', { host: `${next++}.made-up.example` })))
        count(statuses, status)
      }
      connection.close()
    }),
  )
}

/** Asks for a known host, and for known hosts not asked for before, every 10 ms until the act is over. */
async function watched(act: () => Promise<unknown>) {
  const began = performance.now()
  const over = new AbortController()
  const acting = act().finally(() => over.abort())
  const [held, cold] = await Promise.all([
    ask(() => 'bench.example', over.signal),
    ask(() => `cold-${asked++}.example`, over.signal),
  ])
  await acting
  return { held, cold, seconds: (performance.now() - began) / 1000 }
}

async function ask(nextHost: () => string, over: AbortSignal): Promise<Answers> {
  const connection = new LoadConnection(server.port)
  const times: number[] = []
  let refused = 0
  while (!over.aborted) {
    const began = performance.now()
    if (statusOf(await connection.ask(requestText('/', { host: nextHost() }))) !== 200) refused++
    times.push(performance.now() - began)
    await sleep(10)
  }
  connection.close()
  return { times, refused }
}

function print(phase: string, { held, cold }: { held: Answers; cold: Answers }): void {
  for (const [name, { times, refused }] of Object.entries({ 'known host': held, 'cold hosts': cold })) {
    console.log(
      `${name}, ${phase.padEnd(6)}: ${times.length} requests, ${refused} without a 200, p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms, slowest ${Math.max(...times).toFixed(1)} ms`,
    )
  }
}

/** The server's own count, over every session of the database. */
async function queriesSoFar(): Promise<number> {
  await sleep(2000)
  const {
    rows: [row],
  } = await counter.query<{ queries: string }>(
    'select xact_commit + xact_rollback as queries from pg_stat_database where datname = current_database()',
  )
  return Number(row?.queries)
}
