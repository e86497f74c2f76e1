import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/**
 * Serves connections that the parent process accepts and hands over. `npm run dev` is that parent: it keeps connections
 * open while the server restarts.
 */
export async function serveHandedConnections(app: FastifyInstance): Promise<void> {
  await app.ready()
  process.on('message', (message, socket) => {
    if (message === 'end') process.kill(process.pid, 'SIGTERM')
    // Undefined if the client has closed the connection meanwhile.
    else if (socket !== undefined) app.server.emit('connection', socket as Socket)
  })
  process.send?.('ready')
}
