// A plain application: 10 hooks; routes that do nothing, or 5 queries and 5 log lines, or fail. Tells what the process
// has used.
import { createWriteStream } from 'node:fs'
import Fastify from 'fastify'
import pg from 'pg'

const pool = new pg.Pool({ connectionString: process.env.POSTGRES_URL, max: 4 })
const app = Fastify({ logger: { stream: createWriteStream('/dev/null') } })

for (const name of ['onRequest', 'preValidation', 'preHandler', 'preSerialization', 'onResponse']) {
  app.addHook(name, async function first() {})
  app.addHook(name, async function second() {})
}

app.get('/rooms/:id', async ({ log, params }) => {
  const rooms = []
  for (let each = 0; each < 5; each++) {
    log.info({ each }, 'Loading a room')
    const { rows } = await pool.query('select $1::int as room, $2::int as each', [params.id, each])
    rooms.push(...rows)
  }
  return rooms
})

app.get('/plain', async () => ({ open: true }))

app.get('/error', async () => {
  throw new Error('The room is closed')
})

process.on('message', what => {
  if (what === 'cpu') return process.send(cpuTime())
  // Only here: V8 drops the code of what has not run for a few full collections, and would compile it in each round.
  globalThis.gc()
  process.send({ memory: process.memoryUsage.rss(), heap: process.memoryUsage().heapUsed })
})

await app.listen({ port: 0, host: '127.0.0.1' })
process.send({ port: app.server.address().port, cpu: cpuTime() })

/** Microseconds. */
function cpuTime() {
  const { user, system } = process.cpuUsage()
  return user + system
}
