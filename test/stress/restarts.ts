/** Two servers on one PostgreSQL, restarted in turn behind proxies: counts failed, lost and duplicated requests. */
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openMuseumSite, Outcomes } from './museum-site.ts'
import { proxyNames, startProxy } from './proxies.ts'
import { freePort, serve, type Served } from './serving.ts'
import { tellCounts } from './statuses.ts'

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

const site = await openMuseumSite()
const environments = [site.environment(), site.environment()].map(environment => ({
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
  await site.close()
}

async function tryProxy(name: string): Promise<void> {
  const proxy = await startProxy(name, ports)
  if (proxy === undefined) {
    console.log(`${name.padEnd(7)} is not installed`)
    return
  }
  tried++
  const outcomes = new Outcomes()
  try {
    const end = performance.now() + seconds * 1000
    const load = Array.from({ length: lanes }, async (_, lane) => {
      for (let turn = 0; performance.now() < end; turn++) {
        const museum = turn % 2 === 0 ? undefined : `${name} ${lane}.${turn}`
        outcomes.add(museum, await site.ask(proxy.port, museum))
        await sleep(pace)
      }
    })
    const [restarts] = await Promise.all([restartInTurn(end), ...load])
    await print(name, restarts, outcomes)
  } finally {
    await proxy.stop()
  }
}

/** @returns the number of restarts */
async function restartInTurn(end: number): Promise<number> {
  let restarts = 0
  for (; performance.now() < end; restarts++) {
    const number = restarts % 2
    await servers[number]?.close()
    servers[number] = await start(number)
    await sleep(rest)
  }
  return restarts
}

async function print(name: string, restarts: number, { answered, errors, added }: Outcomes): Promise<void> {
  const { rows } = await site.client.query<{ name: string; count: number }>(
    'select name, count(*)::integer as count from museums where name like $1 group by name',
    [`${name} %`],
  )
  const kept = new Set(rows.map(({ name }) => name))
  const lost = added.filter(name => !kept.has(name)).length
  const doubled = rows.filter(({ count }) => count > 1).length
  const failed = [...errors.values()].reduce((sum, count) => sum + count, 0)
  const told = failed === 0 ? '' : ` (${tellCounts(errors)})`
  console.log(
    `${name.padEnd(7)} ${restarts} restarts, ${answered + failed} requests: ${failed} errors${told}, ${lost} of ${added.length} additions lost, ${doubled} duplicated`,
  )
  if (failed + lost + doubled > 0) process.exitCode = 1
}
