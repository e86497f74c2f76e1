/** Two servers on one PostgreSQL: how soon both see a change, and that neither returns to an older state. */
import pg from 'pg'
import { setTimeout as sleep } from 'node:timers/promises'
import { LoadConnection, requestText } from '../../bench/load-connection.ts'
import { dropDatabase, environmentOf } from '../../bench/bench-database.ts'
import { quantile } from '../../bench/quantile.ts'
import { makeServerDatabase, serve } from './serving.ts'

const [, , stated = '200'] = process.argv
const changes = Number(stated)
const kills = Math.ceil(changes / 10)
/** How often each server is asked again after it has shown the change. */
const repeats = 20
/** Milliseconds for which a server without notifications trusts its cache. */
const lifetime = 1000

const bench = await makeServerDatabase(1)
const servers = [await serve(environmentOf(bench)), await serve(environmentOf(bench))]
const connections = servers.map(({ port }) => new LoadConnection(port))
const request = requestText('/', { host: 'bench.example' })
const client = new pg.Client(bench.url)
await client.connect()
let number = 0
let stale = 0
try {
  const heard: number[] = []
  for (let change = 0; change < changes; change++) heard.push(await timeOfChange())
  print(`${changes} updates from another connection`, heard)
  const unheard: number[] = []
  for (let kill = 0; kill < kills; kill++) {
    const { rowCount } = await client.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'portico listener'",
    )
    if (rowCount !== servers.length) throw new Error(`${rowCount} listeners were killed, not ${servers.length}.`)
    unheard.push(await timeOfChange())
    // Longer than a listener takes to reconnect.
    await sleep(lifetime)
  }
  print(`${kills} updates, each after both listeners were killed`, unheard)
  console.log(`outdated answers after the first new one: ${stale}`)
  if (stale > 0 || Math.max(...unheard) > lifetime + 100) process.exitCode = 1
} finally {
  for (const connection of connections) connection.close()
  for (const server of servers) await server.close()
  await client.end()
  await dropDatabase(bench)
}

/** Milliseconds until both servers show a change. */
async function timeOfChange(): Promise<number> {
  const name = `Museum ${number++}`
  await Promise.all(connections.map(connection => connection.ask(request)))
  await client.query("update licenses set name = $1 where domain = 'bench.example'", [name])
  const changed = performance.now()
  const times = await Promise.all(
    connections.map(async connection => {
      while (!(await connection.ask(request)).includes(name));
      const time = performance.now() - changed
      for (let repeat = 0; repeat < repeats; repeat++) if (!(await connection.ask(request)).includes(name)) stale++
      return time
    }),
  )
  return Math.max(...times)
}

function print(what: string, times: number[]): void {
  console.log(
    `${what}: both servers show the change after ${quantile(times, 0.5).toFixed(1)} ms (median), ${quantile(times, 0.99).toFixed(1)} ms (p99), ${Math.max(...times).toFixed(1)} ms (slowest)`,
  )
}
