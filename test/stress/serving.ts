import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Connection, requestText } from '../../bench/connection.ts'

/** A server that a show is about: the process that `npm start` would be. */
export interface Served {
  port: number
  /** Whether it still runs. */
  isAlive: () => boolean
  /** In megabytes, what its process has in memory. */
  memory: () => Promise<number>
  close: () => Promise<void>
}

/** @param environment besides a free port, unless it names one, and no log but of what is fatal */
export async function serve(environment: Record<string, string>): Promise<Served> {
  const port = Number(environment['PORT'] ?? (await freePort()))
  const child = fork(fileURLToPath(new URL('../../src/server.js', import.meta.url)), {
    env: { ...process.env, LOG_LEVEL: 'fatal', ...environment, PORT: String(port) },
  })
  const isAlive = () => child.exitCode === null && child.signalCode === null
  while (!(await isAnswering(port))) {
    if (!isAlive()) throw new Error('The server did not start.')
    await sleep(50)
  }
  return {
    port,
    isAlive,
    memory: async () =>
      Number((await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(child.pid)])).stdout) / 1024,
    async close() {
      child.kill()
      if (isAlive()) await once(child, 'exit')
    },
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : NaN
}

/** Whether anybody answers HTTP there. */
export async function isAnswering(port: number): Promise<boolean> {
  const connection = new Connection(port)
  try {
    await connection.ask(requestText('/', {}))
    return true
  } catch {
    return false
  } finally {
    connection.close()
  }
}

/** The status of an answer. */
export function statusOf(answer: string): number {
  return Number(answer.slice(9, 12))
}
