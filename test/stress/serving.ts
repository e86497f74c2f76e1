import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type BenchDatabase, makeDatabase } from '../../bench/bench-database.ts'
import { LoadConnection, requestText } from '../../bench/load-connection.ts'
import { portOf } from '../support/port.ts'

/** The server under test: the same process that `npm start` runs. */
export interface Served {
  port: number
  /** The resident memory of its process in megabytes. */
  memory: () => Promise<number>
  close: () => Promise<void>
}

/** @param environment added to a free port, unless it has a PORT, and to a log of fatal errors only */
export async function serve(environment: Record<string, string>): Promise<Served> {
  const port = Number(environment['PORT'] ?? (await freePort()))
  const child = fork(fileURLToPath(new URL('../../server.js', import.meta.url)), {
    env: { ...process.env, LOG_LEVEL: 'fatal', ...environment, PORT: String(port) },
  })
  const isAlive = () => child.exitCode === null && child.signalCode === null
  while (!(await isAnswering(port))) {
    if (!isAlive()) throw new Error('The server did not start.')
    await sleep(50)
  }
  return {
    port,
    memory: async () =>
      Number((await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(child.pid)])).stdout) / 1024,
    async close() {
      child.kill()
      if (isAlive()) await once(child, 'exit')
    },
  }
}

/** Makes a database on PostgreSQL with a license for bench.example, and with this many others. */
export async function makeServerDatabase(others: number): Promise<BenchDatabase> {
  process.env['BENCH_DATABASE_URL'] ??= 'postgres://postgres@127.0.0.1:5432/postgres'
  return await makeDatabase(others)
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = portOf(server.address())
  server.close()
  await once(server, 'close')
  return port
}

/** Whether a server answers HTTP on this port. */
export async function isAnswering(port: number): Promise<boolean> {
  const connection = new LoadConnection(port)
  try {
    await connection.ask(requestText('/', {}))
    return true
  } catch {
    return false
  } finally {
    connection.close()
  }
}
