/** Sends more requests at once than a server can answer in a second, to Portico's overload plugin and to others. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import underPressure from '@fastify/under-pressure'
import Fastify, { type FastifyInstance } from 'fastify'
import overload from '../plugins/overload.ts'
import vary from '../plugins/vary.ts'
import { HttpServers } from '../src/serving/http-servers.ts'
import { LoadConnection, requestText } from './load-connection.ts'
import { quantile } from './quantile.ts'

/** Requests of one wave, each on its own connection. */
const wave = 600
const waves = 4
/** Milliseconds of CPU that a request takes, and between two waves. */
const work = 5
const pause = 200

const portico = "Portico's overload"
const plugins: Record<string, (app: FastifyInstance) => unknown> = {
  'no plugin': () => {},
  [portico]: app => app.register(vary).register(overload),
  '@fastify/under-pressure': app => app.register(underPressure, { maxEventLoopDelay: 1000, retryAfter: 1 }),
  '@fastify/under-pressure, sampling every 100 ms': app =>
    app.register(underPressure, { maxEventLoopDelay: 1000, retryAfter: 1, sampleInterval: 100 }),
}

const [, file = '', served] = process.argv
if (served === undefined) for (const name of Object.keys(plugins)) await flood(name)
else await serve(served)

async function serve(name: string): Promise<void> {
  const app = Fastify(name === portico ? { serverFactory: new HttpServers().create } : {})
  await plugins[name]?.(app)
  app.get('/', (_request, reply) => {
    for (const end = performance.now() + work; performance.now() < end;);
    reply.send('done')
  })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  process.send?.(Number(new URL(origin).port))
}

async function flood(name: string): Promise<void> {
  const child = fork(file, [name])
  const [port] = await once(child, 'message')
  console.log(`${name}: requests answered, slowest in ms; refused, slowest in ms`)
  for (let turn = 0; turn < waves; turn++) {
    console.log(`  ${await sendWave(port)}`)
    await sleep(pause)
  }
  child.kill()
}

async function sendWave(port: number): Promise<string> {
  const answered: number[] = []
  const refused: number[] = []
  const began = performance.now()
  await Promise.all(
    Array.from({ length: wave }, async () => {
      const connection = new LoadConnection(port)
      const answer = await connection.ask(requestText('/', { host: 'localhost' }))
      const list = answer.startsWith('HTTP/1.1 200') ? answered : refused
      list.push(performance.now() - began)
      connection.close()
    }),
  )
  return [answered, refused].map(times => `${times.length}, ${slowest(times)}`).join('; ')
}

function slowest(times: readonly number[]): string {
  return times.length === 0 ? '–' : String(Math.round(quantile(times, 1)))
}
