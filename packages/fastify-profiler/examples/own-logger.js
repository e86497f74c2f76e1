// The profiler in an application that makes its own pino logger. Start it with `node own-logger.js`.
import Fastify from 'fastify'
import profiler, { profiledOptions, recordedLogger } from 'fastify-profiler'
import pino from 'pino'

const { level, stream } = recordedLogger('info')
const app = Fastify(profiledOptions({ loggerInstance: pino({ level }, stream) }))
await app.register(profiler)

app.get('/', async function greet(request) {
  request.log.debug('The profile has this line, the output has not.')
  return { hello: 'world' }
})

await app.listen({ port: Number(process.env.PORT ?? 3000) })
