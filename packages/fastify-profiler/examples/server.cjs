// The profiler in a CommonJS application. Start it with `node server.cjs`, ask for a page, then open /_profiler/.
const Fastify = require('fastify')
const { default: profiler, profiledOptions } = require('fastify-profiler')

async function start() {
  const app = Fastify(profiledOptions({ logger: true }))
  await app.register(profiler)

  app.get('/', async function greet(request) {
    request.log.debug('The profile has this line, the output has not.')
    return { hello: 'world' }
  })

  await app.listen({ port: Number(process.env.PORT ?? 3000) })
}

start()
