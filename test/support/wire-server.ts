import { EventEmitter, on, once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { PGlite } from '@electric-sql/pglite'
import type { Test } from 'tap'
import { portOf } from './port.ts'

/** Serves a PGlite on a port, for tests that break connections. Only one connection at a time may query it. */
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
          onRawData: answer => socket.write(answer.slice()),
        }),
      )
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.close()
    await pglite.close()
  })
  return {
    url: `postgres://portico:hunter2@127.0.0.1:${portOf(server.address())}/template1`,
    /** Cuts every connection and refuses this many more. Infinity refuses all until the next call. */
    cut(hangUps: number): void {
      refusals = hangUps
      for (const socket of sockets) socket.destroy()
      sockets.clear()
    },
    /** Resolves at the next query that contains this text. */
    async asked(query: string): Promise<void> {
      for await (const [bytes] of on(questions, 'bytes')) if (String(bytes).includes(query)) return
    },
    /** Leaves every query unanswered. */
    freeze(): void {
      answering = new Promise(resolve => {
        thaw = resolve
      })
    },
    thaw: () => thaw(),
  }
}
