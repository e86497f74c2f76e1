import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { dropDatabase, environmentOf } from '../../bench/bench-database.ts'
import { makeServerDatabase } from './serving.ts'
import { count } from './statuses.ts'

/** Milliseconds before a request counts as failed. */
const patience = 15_000

/** Opens a database on PostgreSQL with a site, to whose servers an admin adds museums. */
export async function openMuseumSite() {
  const bench = await makeServerDatabase(0)
  const client = new pg.Client(bench.url)
  await client.connect()
  await client.query('update users set admin = true')
  const { rows } = await client.query("select id from licenses where domain = 'bench.example'")
  const agent = new Agent({ keepAlive: true })

  /** Gets the front page, or adds a museum with this name. @returns the status, or the reason for getting none */
  async function ask(port: number, museum: string | undefined): Promise<number | string> {
    const headers = { host: 'bench.example', cookie: bench.cookie, 'content-type': 'application/json' }
    const [method, path] = museum === undefined ? ['GET', '/'] : ['POST', '/api/museums']
    const signal = AbortSignal.timeout(patience)
    const answered = new Promise<number>((resolve, reject) => {
      request({ port, host: '127.0.0.1', agent, headers, path, method, signal }, response => {
        text(response).then(() => resolve(Number(response.statusCode)), reject)
      })
        .on('error', reject)
        .end(museum && JSON.stringify({ license_id: rows[0].id, name: museum }))
    })
    return await answered.catch((error: NodeJS.ErrnoException) => error.code ?? error.message)
  }

  return {
    client,
    ask,
    environment: () => environmentOf(bench),
    async close(): Promise<void> {
      agent.destroy()
      await client.end()
      await dropDatabase(bench)
    },
  }
}

/** What became of requests. */
export class Outcomes {
  /** The number of errors of each kind: a method, and a status or the reason for getting none. */
  errors = new Map<string, number>()
  answered = 0
  /** The names of museums whose addition was confirmed. */
  added: string[] = []

  add(museum: string | undefined, outcome: number | string): void {
    const [method, expected] = museum === undefined ? ['GET', 200] : ['POST', 201]
    if (outcome !== expected) return count(this.errors, `${method} ${outcome}`)
    this.answered++
    if (museum !== undefined) this.added.push(museum)
  }
}
