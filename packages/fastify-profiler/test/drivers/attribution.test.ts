import { Redis } from 'ioredis'
import t from 'tap'
import { everythingStored, listen, profiledApp, turns } from '../profiled-app.ts'
import { openPool, servePostgres } from './postgres-server.ts'
import { serveRedis } from './redis-server.ts'
import { standInService } from './stand-in-server.ts'

// Answers overtake each other.
const origin = await standInService(t, async (request, response) => {
  await turns((Number(request.url?.slice(1)) * 7) % 11)
  response.end(request.url)
})
const pool = openPool(t, await servePostgres(t), { max: 7 })
const redis = new Redis({ host: '127.0.0.1', port: await serveRedis(t), enableReadyCheck: false })
t.teardown(() => redis.disconnect())

t.test('of 100 requests at once with three drivers each, every call is in the profile of its own request', async t => {
  const app = await profiledApp(t)
  app.get('/:number', async request => {
    const { number } = Object(request.params)
    void redis.get(`first:${number}`)
    await Promise.all([
      pool.query('select sleep 3 where id = $1', [number]),
      fetch(`${origin}/${number}`).then(response => response.text()),
      new Promise(resolve => {
        pool.query('select one where id = $1', [number], () => redis.get(`then:${number}`, resolve))
      }),
    ])
    const client = await pool.connect()
    await client.query('select one from last where id = $1', [number])
    client.release()
    return 'done'
  })
  const { origin: own } = await listen(app)
  const numbers = Array.from({ length: 100 }, (_, number) => String(number))
  await Promise.all(numbers.map(number => fetch(`${own}/${number}`).then(response => response.text())))
  await everythingStored(app)

  const { profiles } = await app.profiler.search({ perPage: 100 })
  t.equal(profiles.length, 100)
  for (const { token, url, queries } of profiles) {
    const number = url.slice(1)
    const profile = await app.profiler.find(token)
    const found = profile?.database?.queries.map(({ parameters }) => String(parameters)).sort()
    t.strictSame(found, [number, number, number, `first:${number}`, `then:${number}`].sort())
    const urls = profile?.http?.calls.map(({ url }) => url)
    t.strictSame(urls, [`${origin}/${number}`])
    t.equal(profile?.spans.filter(({ kind }) => kind === 'query').length, 5)
    t.equal(queries.count, 5)
    t.ok(profile?.database?.queries.every(({ location, duration }) => location !== null && duration !== null))
  }
})
