/**
 * Prints what the profiler costs in µs of CPU a request, with 10 hooks, 5 queries and 5 log lines:
 * `node --import tsx test/plugins/debug/profiler/cost.ts`. One process per variant: two applications in one
 * process distort each other.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Fastify, { type FastifyInstance } from 'fastify'

const requests = 4000
const rounds = 5

const [, , variant] = process.argv
if (variant === undefined) {
  const costs = ['off', 'on'].map(name => {
    const { stdout } = spawnSync(process.execPath, ['--import', 'tsx', fileURLToPath(import.meta.url), name], { encoding: 'utf8' })
    console.log(`${name}: ${stdout.trim()} µs a request`)
    return Number(stdout)
  })
  console.log(`the profiler: ${Math.round((costs[1] ?? NaN) - (costs[0] ?? NaN))} µs a request`)
} else {
  const directory = mkdtempSync(join(tmpdir(), 'profiler-cost-'))
  const app = await build(variant, directory)
  console.log(await measure(app))
  await app.close()
  rmSync(directory, { recursive: true })
}

async function build (name: string, directory: string): Promise<FastifyInstance> {
  const logger = { level: 'info', stream: { write () {} } }
  let app = Fastify({ logger })
  if (name === 'on') {
    const { default: profiler, profiledOptions } = await import('../../../../plugins/debug/profiler/index.ts')
    app = Fastify(profiledOptions({ logger }))
    await app.register(profiler, { directory })
  }
  for (let hook = 0; hook < 4; hook++) app.addHook('onRequest', async function request () {})
  for (let hook = 0; hook < 2; hook++) app.addHook('preHandler', function handler (_request, _reply, done) { done() })
  for (let hook = 0; hook < 2; hook++) app.addHook('onSend', async function send () {})
  for (let hook = 0; hook < 2; hook++) app.addHook('onResponse', function response (_request, _reply, done) { done() })
  // Fastify adds two log lines of its own.
  app.get('/', async request => {
    for (let line = 0; line < 3; line++) request.log.info({ line }, 'line')
    for (let query = 0; query < 5; query++) {
      request.recorder?.span({ kind: 'query', name: 'select', detail: 'select * from licenses where domain = $1' }).end()
    }
    return { ok: true }
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app
}

/** The best of some rounds: what others do on the machine only ever adds. */
async function measure (app: FastifyInstance): Promise<number> {
  const [address] = app.addresses()
  const port = typeof address === 'object' ? address.port : 0
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const ask = () => new Promise<void>((resolve, reject) => {
    get({ port, agent, host: '127.0.0.1' }, response => response.resume().on('end', resolve)).on('error', reject)
  })
  let best = Infinity
  for (let round = 0; round <= rounds; round++) {
    const before = process.cpuUsage()
    for (let sent = 0; sent < requests; sent += 4) await Promise.all([ask(), ask(), ask(), ask()])
    const { user, system } = process.cpuUsage(before)
    // The first round warms up.
    if (round > 0) best = Math.min(best, (user + system) / requests)
  }
  agent.destroy()
  return Math.round(best)
}
