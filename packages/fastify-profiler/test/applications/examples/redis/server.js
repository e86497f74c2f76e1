import { Queue } from 'bullmq'
import Fastify from 'fastify'
import Redis from 'ioredis'
import { createClient } from 'redis'

/** node-redis, ioredis, and BullMQ on it. */
const app = Fastify()
const client = createClient({ url: process.env.REDIS_URL })
await client.connect()
const other = new Redis(process.env.REDIS_URL)
const jobs = new Queue('fastify-profiler', { connection: { url: process.env.REDIS_URL } })
await jobs.waitUntilReady()

app.get('/visits', async () => {
  const visits = await client.incr('fastify-profiler:visits') // query
  return { visits: visits > 0 }
})
app.get('/guests', async () => {
  await other.set('fastify-profiler:guest', 'Lisa') // query
  return { guest: await other.get('fastify-profiler:guest') } // query
})
app.post('/jobs', async () => {
  const job = await jobs.add('greet', { guest: 'Lisa' }) // query
  await jobs.getWaitingCount() // query
  await job.remove() // query
  return { name: job.name }
})

console.log(await app.listen({ port: Number(process.env.PORT) }))
