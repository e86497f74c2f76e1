import { EventEmitter, on, once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { PGlite } from '@electric-sql/pglite'
import type { Test } from 'tap'

/** A PGlite behind a port, for what has to be tried on connections that can be lost: no more than one at a time may ask it something. */
export async function serveWire(t: Test) {
  const pglite = await PGlite.create()
  const sockets = new Set<Socket>()
  const questions = new EventEmitter<{ bytes: [bytes: Buffer] }>()
  let refusals = 0
  let answering = Promise.resolve()
  let thaw = () => {}
  const server = createServer(socket => {
    socket.on('error', () => {})
    if (refusals-- > 0) return socket.destroy()
    sockets.add(socket)
    socket.on('data', async bytes => {
      questions.emit('bytes', bytes)
      await answering
      await pglite.runExclusive(() =>
        pglite.execProtocolRawStream(bytes, {
          onRawData: answer => {
            socket.write(answer.slice())
          },
        }),
      )
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.close()
    await pglite.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server does not listen on a port.')
  return {
    url: `postgres://portico:hunter2@127.0.0.1:${address.port}/template1`,
    /** Cuts every connection, and hangs up on the next so many; Infinity: until it is cut with another number. */
    cut(hangUps: number): void {
      refusals = hangUps
      for (const socket of sockets) socket.destroy()
      sockets.clear()
    },
    /** Resolves when it is asked this the next time. */
    async asked(query: string): Promise<void> {
      for await (const [bytes] of on(questions, 'bytes')) if (String(bytes).includes(query)) return
    },
    /** Leaves whatever it is asked unanswered. */
    freeze(): void {
      answering = new Promise(resolve => {
        thaw = resolve
      })
    },
    thaw: () => thaw(),
  }
}
