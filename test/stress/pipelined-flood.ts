/** Connections that send 2,400 small requests at once: their cost in memory, and how long another client waits. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { LoadConnection, requestText } from '../../bench/load-connection.ts'
import { dropDatabase, environmentOf } from '../../bench/bench-database.ts'
import { makeServerDatabase, serve } from './serving.ts'

const [, , stated = '1000'] = process.argv
const count = Number(stated)
/** Nearly as much as Node reads at once. */
const bytes = 'GET / HTTP/1.1\r\nHost:m\r\n\r\n'.repeat(2400)
/** Milliseconds that the flood is watched. */
const duration = 10_000

const bench = await makeServerDatabase(1)
const server = await serve(environmentOf(bench))
try {
  const sockets = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(server.port, '127.0.0.1').on('error', () => {})
      await once(socket, 'connect')
      return socket.resume()
    }),
  )
  const before = await server.memory()
  let [peak, slowest, closed] = [before, 0, 0]
  for (const socket of sockets) {
    socket.once('close', () => {
      closed++
    })
    socket.write(bytes)
  }
  const began = performance.now()
  while (performance.now() - began < duration) {
    const asked = performance.now()
    const client = new LoadConnection(server.port)
    await client.ask(requestText('/health', {}))
    client.close()
    slowest = Math.max(slowest, performance.now() - asked)
    peak = Math.max(peak, await server.memory())
    await sleep(100)
  }
  console.log(`${count} connections with 2,400 requests each: the server closed ${closed}`)
  console.log(`  memory ${before.toFixed(0)} MB before, ${peak.toFixed(0)} MB at most`)
  console.log(`  another client waited ${slowest.toFixed(0)} ms at most`)
  for (const socket of sockets) socket.destroy()
} finally {
  await server.close()
  await dropDatabase(bench)
}
