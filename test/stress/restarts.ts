/** Two servers on one PostgreSQL, restarted in turn behind proxies: counts failed, lost and duplicated requests. */
import { spawn } from 'node:child_process'
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { dropDatabase, environmentOf, makeDatabase } from '../../bench/bench-database.ts'
import { proxyNames, startProxy } from './proxies.ts'
import { freePort, serve, type Served } from './serving.ts'

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, busy: { type: 'string', default: '0' } },
})
/** Seconds of load for each proxy. */
const seconds = Number(values.seconds)
/** The number of processes that compete for the processors. */
const busy = Number(values.busy)
const lanes = 20
/** Milliseconds between a response and the next request of its lane. */
const pace = 20
/** Milliseconds between a server becoming ready and the next restart: proxies check twice a second. */
const rest = 2000
/** Milliseconds before a request counts as failed. */
const patience = 15_000

interface Figures {
  requests: number
  restarts: number
  /** The number of errors of each kind: a status, or the reason for getting none. */
  errors: Map<string, number>
  /** The names of museums whose addition was confirmed. */
  added: string[]
}

process.env['BENCH_DATABASE_URL'] ??= 'postgres://postgres@127.0.0.1:5432/postgres'
const bench = await makeDatabase(0)
const client = new pg.Client(bench.url)
await client.connect()
await client.query('update users set admin = true')
const {
  rows: [license],
} = await client.query("select id from licenses where domain = 'bench.example'")
const environments = [environmentOf(bench), environmentOf(bench)].map(environment => ({
  ...environment,
  TRUST_PROXY: 'loopback',
}))
const ports: [number, number] = [await freePort(), await freePort()]
const start = (number: number) => serve({ ...environments[number], PORT: String(ports[number]) })
const servers: Served[] = []
const neighbours = Array.from({ length: busy }, () => {
  // Time-limited, in case nothing is left to end it.
  const loop = `const end = Date.now() + ${(seconds + 60) * proxyNames.length * 1000}; while (Date.now() < end);`
  return spawn(process.execPath, ['-e', loop])
})
let tried = 0
try {
  servers.push(await start(0), await start(1))
  for (const name of proxyNames) await tryProxy(name)
  if (tried === 0) throw new Error(`None of ${proxyNames.join(', ')} is installed.`)
} finally {
  for (const neighbour of neighbours) neighbour.kill()
  for (const server of servers) await server.close()
  await client.end()
  await dropDatabase(bench)
}

async function tryProxy(name: string): Promise<void> {
  const proxy = await startProxy(name, ports)
  if (proxy === undefined) {
    console.log(`${name.padEnd(7)} is not installed`)
    return
  }
  tried++
  const figures: Figures = { requests: 0, restarts: 0, errors: new Map(), added: [] }
  const agent = new Agent({ keepAlive: true })
  try {
    const end = performance.now() + seconds * 1000
    const load = Array.from({ length: lanes }, async (_, lane) => {
      for (let turn = 0; performance.now() < end; turn++) {
        await use(proxy.port, agent, figures, turn % 2 === 0 ? undefined : `${name} ${lane}.${turn}`)
        await sleep(pace)
      }
    })
    await Promise.all([...load, restartInTurn(end, figures)])
    await print(name, figures)
  } finally {
    agent.destroy()
    await proxy.stop()
  }
}

async function restartInTurn(end: number, figures: Figures): Promise<void> {
  for (let number = 0; performance.now() < end; number = 1 - number) {
    await servers[number]?.close()
    servers[number] = await start(number)
    figures.restarts++
    await sleep(rest)
  }
}

/** Gets the front page, or adds a museum with this name. */
async function use(port: number, agent: Agent, figures: Figures, museum: string | undefined): Promise<void> {
  figures.requests++
  const [method, expected] = museum === undefined ? ['GET', 200] : ['POST', 201]
  const outcome = await ask(port, agent, museum).catch((error: NodeJS.ErrnoException) => error.code ?? error.message)
  if (outcome === expected) {
    if (museum !== undefined) figures.added.push(museum)
    return
  }
  const error = `${method} ${outcome}`
  figures.errors.set(error, (figures.errors.get(error) ?? 0) + 1)
}

function ask(port: number, agent: Agent, museum: string | undefined): Promise<number> {
  const body = museum === undefined ? undefined : JSON.stringify({ license_id: license.id, name: museum })
  const headers = {
    host: 'bench.example',
    cookie: bench.cookie,
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  }
  return new Promise((resolve, reject) => {
    request(
      {
        port,
        host: '127.0.0.1',
        agent,
        headers,
        path: body === undefined ? '/' : '/api/museums',
        method: body === undefined ? 'GET' : 'POST',
        signal: AbortSignal.timeout(patience),
      },
      response => {
        text(response).then(() => resolve(Number(response.statusCode)), reject)
      },
    )
      .on('error', reject)
      .end(body)
  })
}

async function print(name: string, { requests, restarts, errors, added }: Figures): Promise<void> {
  const { rows } = await client.query<{ name: string; count: number }>(
    'select name, count(*)::integer as count from museums where name like $1 group by name',
    [`${name} %`],
  )
  const kept = new Set(rows.map(({ name }) => name))
  const lost = added.filter(name => !kept.has(name)).length
  const doubled = rows.filter(({ count }) => count > 1).length
  const failed = [...errors.values()].reduce((sum, count) => sum + count, 0)
  const told = failed === 0 ? '' : ` (${[...errors].map(([error, count]) => `${count} × ${error}`).join(', ')})`
  console.log(
    `${name.padEnd(7)} ${restarts} restarts, ${requests} requests: ${failed} errors${told}, ${lost} of ${added.length} additions lost, ${doubled} duplicated`,
  )
  if (failed + lost + doubled > 0) process.exitCode = 1
}
