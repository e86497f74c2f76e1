import Fastify from 'fastify'
import Redis from 'ioredis'
import { createClient } from 'redis'

/** node-redis and ioredis side by side. */
const app = Fastify()
const client = createClient({ url: process.env.REDIS_URL })
await client.connect()
const other = new Redis(process.env.REDIS_URL)

app.get('/visits', async () => {
  const visits = await client.incr('fastify-profiler:visits') // query
  return { visits: visits > 0 }
})
app.get('/guests', async () => {
  await other.set('fastify-profiler:guest', 'Lisa') // query
  return { guest: await other.get('fastify-profiler:guest') } // query
})

console.log(await app.listen({ port: Number(process.env.PORT) }))
