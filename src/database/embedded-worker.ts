import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { PrivateFileSystem } from './private-file-system.ts'

// PGlite blocks its thread for the whole of a query, so it has a thread of its own. Each port that arrives is a
// connection: PostgreSQL's wire protocol in, and out again.

const database = await PGlite.create({ fs: new PrivateFileSystem(String(workerData)) })
/** What connections say from then on may arrive when it is closed already. */
let isClosing = false

parentPort?.on('message', (message: MessagePort | 'close') => {
  if (message !== 'close') return serve(message)
  isClosing = true
  void database.close().then(() => parentPort?.close())
})
parentPort?.postMessage('ready')

function serve(port: MessagePort): void {
  // PGlite has one session: a new connection must not inherit what the last one left in it.
  const fresh = database.exec('rollback').then(() => database.exec('discard all'))
  // What fails is no answer to anybody: it ends the thread, which the server hears of.
  port.on('message', (bytes: Uint8Array) => {
    void answer(bytes)
  })

  async function answer(bytes: Uint8Array): Promise<void> {
    await fresh
    await database.runExclusive(async () => {
      if (isClosing) return
      // The bytes lie in PGlite's own memory, which the next query overwrites.
      await database.execProtocolRawStream(bytes, { onRawData: output => port.postMessage(output.slice()) })
    })
  }
}
