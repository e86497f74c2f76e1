import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/**
 * Serves the connections that the parent process accepts and hands over. `npm run dev` does so: it keeps them while the
 * server restarts.
 */
export async function serveHandedConnections(app: FastifyInstance): Promise<void> {
  await app.ready()
  process.on('message', (message, socket) => {
    if (message === 'end') process.kill(process.pid, 'SIGTERM')
    // A connection that its client has closed on the way is not there any more.
    else if (socket !== undefined) app.server.emit('connection', socket as Socket)
  })
  process.send?.('ready')
}
