// The profiler in a CommonJS application in TypeScript, as tsc translates it: Node loads the profiler with `require`.
import Fastify = require('fastify')
import profiler = require('fastify-profiler')

async function start(): Promise<void> {
  const app = Fastify.fastify(profiler.profiledOptions({ logger: true }))
  await app.register(profiler.default)

  app.get('/', async function greet(request) {
    request.log.debug('The profile has this line, the output has not.')
    return { hello: 'world' }
  })

  await app.listen({ port: Number(process.env['PORT'] ?? 3000) })
}

void start()
