/** The application of the pairs, before or after its change. Sends its origin to its parent. */
import { pbkdf2Sync } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import Fastify from 'fastify'
import profiler, { profiledOptions } from '../../index.ts'
import { pairs, type Work } from './pairs.ts'
import { schema, openPool } from './stores.ts'

const { TRUTH_FOLDER = '' } = process.env
let isChanged = process.env.TRUTH_CHANGED === 'yes'
const pool = openPool()

/** What about 20 ms of each kind of work takes. */
const works: Record<Work, (factor: number) => Promise<unknown>> = {
  io: async factor => pool.query('select count(*) from generate_series(1, $1)', [Math.round(150_000 * factor)]),
  timer: async factor => setTimeout(20 * factor),
  cpu: async factor => pbkdf2Sync('museum', 'salt', Math.round(24_000 * factor), 32, 'sha1'),
  index: async () => pool.query('select id from halls where name = md5($1)', ['7']),
}

const app = Fastify(profiledOptions({ logger: { level: 'silent' } }))
await app.register(profiler, { directory: TRUTH_FOLDER, root: import.meta.dirname })
for (const { factor, name, work } of pairs) {
  app.get(`/${name}`, async () => {
    await works[work](isChanged ? factor : 1)
    return 'done'
  })
}
app.get('/warm-up', async () => {
  // The first queries of a process and of its connections take longer, which is a change of its own.
  for (let turn = 0; turn < 25; turn++) for (const work of Object.values(works)) await work(1)
  return 'done'
})
if (!isChanged) {
  await pool.query(`create schema ${schema}`)
  await pool.query('create table halls as select n as id, md5(n::text) as name from generate_series(1, 240000) n')
}
process.send?.(await app.listen({ port: 0, host: '127.0.0.1' }))

process.on('message', async message => {
  if (message === 'change') {
    isChanged = true
    // On a connection of its own: PostgreSQL's process keeps the memory, and then answers the other queries faster.
    const migrating = openPool()
    await migrating.query('create index on halls (name)')
    await migrating.end()
    process.send?.('changed')
    return
  }
  await app.close()
  if (message === 'end') await pool.query(`drop schema ${schema} cascade`)
  await pool.end()
  process.disconnect()
})
