// The profiler in an ESM application. Start it with `node server.js`, ask for a page, then open /_profiler/.
import Fastify from 'fastify'
import profiler, { profiledOptions } from 'fastify-profiler'

const app = Fastify(profiledOptions({ logger: true }))
await app.register(profiler)

app.get('/', async function greet(request) {
  request.log.debug('The profile has this line, the output has not.')
  return { hello: 'world' }
})

await app.listen({ port: Number(process.env.PORT ?? 3000) })
