/** One of the applications, with its profiler. Sends its origin to its parent, and which stores it has not. */
import Fastify from 'fastify'
import profiler, { profiledOptions } from '../../index.ts'
import { applications } from './applications.ts'
import { closeStores, openStores } from './stores.ts'

const { TRUTH_APPLICATION = '', TRUTH_FOLDER = '' } = process.env
const stores = await openStores()
const app = Fastify(profiledOptions({ logger: { level: 'silent' } }))
await app.register(profiler, { directory: TRUTH_FOLDER, root: import.meta.dirname })
for (const { name, options = {}, run } of applications[TRUTH_APPLICATION] ?? []) {
  app.get(`/${name}`, options, async (_request, reply) => {
    const result = await run(stores, reply)
    return reply.sent ? reply : (result ?? 'done')
  })
}
const origin = await app.listen({ port: 0, host: '127.0.0.1' })
process.send?.({
  origin,
  missing: [stores.mysql ?? 'MariaDB', stores.redis ?? 'Redis'].filter(store => typeof store === 'string'),
})

process.once('message', async () => {
  await app.close()
  await closeStores(stores)
  process.disconnect()
})
