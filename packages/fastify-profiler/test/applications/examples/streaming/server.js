import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import websocket from '@fastify/websocket'
import Fastify from 'fastify'

/** A WebSocket, server-sent events by a hijacked reply, and a stream. */
const app = Fastify()
await app.register(websocket)

app.get('/echo', { websocket: true }, socket => {
  socket.on('message', message => {
    socket.send(String(message).toUpperCase())
    socket.close()
  })
})

app.get('/events', async (request, reply) => {
  reply.hijack()
  reply.raw.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of ['one', 'two', 'three']) {
    reply.raw.write(`data: ${event}\n\n`)
    await sleep(5)
  }
  reply.raw.end()
})

app.get('/lines', async (request, reply) => {
  return reply.type('text/plain').send(Readable.from(['first\n', 'second\n']))
})

console.log(await app.listen({ port: Number(process.env.PORT) }))
