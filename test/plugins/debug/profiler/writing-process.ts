/** An application of its own that profiles requests until it is ended, and names each profile once it is stored. */
import { writeSync } from 'node:fs'
import Fastify from 'fastify'
import profiler from '../../../../plugins/debug/profiler/index.ts'

const app = Fastify()
await app.register(profiler, { directory: process.argv[2] ?? '' })
app.get('/its', async () => 'ok')
for (;;) {
  const { headers } = await app.inject('/its')
  await app.profiler.settled()
  writeSync(1, `${headers['x-debug-token']}\n`)
}
