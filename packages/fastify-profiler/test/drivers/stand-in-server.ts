import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer, type Server, type Socket } from 'node:net'
import type { Test } from 'tap'

/** Serves each connection with `serve` until the test ends. @returns the port */
export async function standIn(t: Test, serve: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    // Otherwise each answer of two parts takes 40 ms, until the client acknowledges the first.
    socket.setNoDelay(true)
    socket.on('error', () => {})
    serve(socket)
  })
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return portOf(server)
}

/** Answers every request with `answer` until the test ends. @returns the origin */
export async function standInService(t: Test, answer: RequestListener): Promise<string> {
  const server = createHttpServer(answer)
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${await portOf(server)}`
}

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return Number(Reflect.get(Object(server.address()), 'port'))
}
