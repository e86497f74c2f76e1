/** How long a new request takes to reach the list of a browser, and what a browser that stalls holds in memory. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import Fastify from 'fastify'
import profiler, { profiledOptions } from '../index.ts'

const requests = 1000
/** Milliseconds between two requests. */
const pause = 5
/** Requests that fill the buffers of a connection that nobody reads. */
const flood = 10_000

const directory = mkdtempSync(join(tmpdir(), 'profiler-bench-'))
const app = Fastify(profiledOptions({}))
await app.register(profiler, { directory })
app.get('/museums/:id', async () => ({ name: 'Louvre' }))
const sockets: Socket[] = []
app.server.on('connection', (socket: Socket) => sockets.push(socket))
const origin = await app.listen({ port: 0, host: '127.0.0.1' })
const { port } = app.server.address() as AddressInfo

/** When each request was answered, by its token. */
const answered = new Map<string, number>()
const delays: number[] = []

const stalled = connect(port, '127.0.0.1')
stalled.write('GET /_profiler/events HTTP/1.1\r\nhost: localhost\r\n\r\n')
await once(stalled, 'data')
stalled.pause()
const [held] = sockets

const [events]: IncomingMessage[] = await once(get(`${origin}/_profiler/events`), 'response')
events?.on('data', (chunk: Buffer) => {
  for (const [, token = ''] of String(chunk).matchAll(/_profiler\/([\w-]{12})/g)) {
    const at = answered.get(token)
    if (at === undefined) continue
    delays.push(performance.now() - at)
    answered.delete(token)
  }
})

for (let number = 0; number < requests; number++) {
  const response = await fetch(`${origin}/museums/${number}`)
  answered.set(String(response.headers.get('x-debug-token')), performance.now())
  await response.text()
  await setTimeout(pause)
}
await setTimeout(500)
let most = 0
for (let number = 0; number < flood; number++) {
  await (await fetch(`${origin}/museums/${number}`)).text()
  most = Math.max(most, held?.writableLength ?? 0)
}
delays.sort((one, other) => one - other)
const at = (share: number) => (delays[Math.ceil(delays.length * share) - 1] ?? NaN).toFixed(0)
console.log(
  `Node ${process.versions.node}: ${requests} requests, ${delays.length} shown, after ${at(0.5)} ms (p50), ` +
    `${at(0.99)} ms (p99); of ${flood} more, a stalled reader held at most ${most} bytes`,
)
stalled.destroy()
events?.destroy()
await app.close()
rmSync(directory, { recursive: true })
