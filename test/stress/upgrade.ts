/** Two servers on one PostgreSQL, upgraded in turn under load and taken back: counts failed requests and additions. */
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { dropDatabase, environmentOf, makeDatabase } from '../../bench/bench-database.ts'
import { freePort, serve, type Served } from './serving.ts'

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '5' }, old: { type: 'string' } } })
/** Seconds of load before the first step and after each. */
const seconds = Number(values.seconds)
const lanes = 10
/** Milliseconds between a response and the next request of its lane. */
const pace = 10

const thisVersion = new URL('../../server.js', import.meta.url)
const versions = {
  // The built server of another checkout, such as that of the last release.
  old: values.old === undefined ? thisVersion : new URL(values.old, `file://${process.cwd()}/`),
  new: values.old === undefined ? new URL('newer-server.js', import.meta.url) : thisVersion,
}

process.env['BENCH_DATABASE_URL'] ??= 'postgres://postgres@127.0.0.1:5432/postgres'
const bench = await makeDatabase(0)
const client = new pg.Client(bench.url)
await client.connect()
await client.query('update users set admin = true')
const {
  rows: [license],
} = await client.query("select id from licenses where domain = 'bench.example'")
const agent = new Agent({ keepAlive: true })
const ports: [number, number] = [await freePort(), await freePort()]
const servers: Served[] = []
const figures = { answered: 0, added: 0, errors: new Map<string, number>() }
const over = new AbortController()

try {
  for (const place of [0, 1] as const) servers[place] = await start(place, 'old')
  const load = Promise.all(Array.from({ length: lanes }, (_, lane) => use(lane)))
  await sleep(seconds * 1000)
  tell('both old')
  for (const [version, place] of [
    ['new', 0],
    ['new', 1],
    ['old', 0],
    ['old', 1],
  ] as const) {
    await servers[place]?.close()
    servers[place] = await start(place, version)
    await sleep(seconds * 1000)
    tell(`server ${place + 1} ${version}`)
  }
  over.abort()
  await load
  const { rows } = await client.query("select count(*)::integer as kept from museums where name like 'Upgrade %'")
  console.log(`${rows[0].kept} of ${figures.added} additions kept`)
  if (figures.errors.size > 0 || rows[0].kept !== figures.added) process.exitCode = 1
} finally {
  over.abort()
  agent.destroy()
  for (const server of servers) await server.close()
  await client.end()
  await dropDatabase(bench)
}

async function start(place: 0 | 1, version: keyof typeof versions): Promise<Served> {
  return await serve({ ...environmentOf(bench), PORT: String(ports[place]) }, versions[version])
}

/** Sends requests until the end, every second one a museum to add. */
async function use(lane: number): Promise<void> {
  for (let turn = 0; !over.signal.aborted; turn++) {
    const museum = turn % 2 === 0 ? undefined : `Upgrade ${lane}.${turn}`
    const outcome = await askEither(museum, turn % 4 < 2 ? ports : [ports[1], ports[0]])
    if (outcome === (museum === undefined ? 200 : 201)) {
      figures.answered++
      if (museum !== undefined) figures.added++
    } else {
      const error = `${museum === undefined ? 'GET' : 'POST'} ${outcome}`
      figures.errors.set(error, (figures.errors.get(error) ?? 0) + 1)
    }
    await sleep(pace)
  }
}

/** Asks the first server or, as proxies do while it restarts, the second. @returns the status, or why there is none */
async function askEither(museum: string | undefined, [first, second]: [number, number]): Promise<number | string> {
  const reasonOf = (error: NodeJS.ErrnoException) => error.code ?? error.message
  const outcome = await ask(first, museum).catch(reasonOf)
  return outcome === 'ECONNREFUSED' ? await ask(second, museum).catch(reasonOf) : outcome
}

function ask(port: number, museum: string | undefined): Promise<number> {
  const body = museum === undefined ? undefined : JSON.stringify({ license_id: license.id, name: museum })
  const headers = { host: 'bench.example', cookie: bench.cookie }
  const options = body === undefined ? { path: '/', headers } : { path: '/api/museums', method: 'POST', headers }
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: '127.0.0.1', agent, ...options }, response => {
      text(response).then(() => resolve(Number(response.statusCode)), reject)
    }).on('error', reject)
    if (body !== undefined) asked.setHeader('content-type', 'application/json')
    asked.end(body)
  })
}

function tell(step: string): void {
  const errors = [...figures.errors].map(([error, count]) => `${count} × ${error}`).join(', ')
  console.log(`${step.padEnd(12)} ${figures.answered} requests answered, errors: ${errors || '0'}`)
}
