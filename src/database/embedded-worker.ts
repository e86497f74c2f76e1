import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { PrivateFileSystem } from './private-file-system.ts'

// PGlite blocks its thread for the whole of a query, so it runs in a worker. Each MessagePort that arrives is one
// connection and carries PostgreSQL's wire protocol in both directions.

const database = await PGlite.create({ fs: new PrivateFileSystem(String(workerData)) })
/** Once true, messages are ignored: they may arrive after PGlite has closed. */
let isClosing = false

parentPort?.on('message', (message: MessagePort | 'close') => {
  if (message !== 'close') return serve(message)
  isClosing = true
  void database.close().then(() => parentPort?.close())
})
parentPort?.postMessage('ready')

function serve(port: MessagePort): void {
  // PGlite has one session. A new connection must not inherit the state of the last one.
  const fresh = database.exec('rollback').then(() => database.exec('discard all'))
  // A failure here is an unhandled rejection: it ends the worker, and its connections close.
  port.on('message', (bytes: Uint8Array) => {
    void answer(bytes)
  })

  async function answer(bytes: Uint8Array): Promise<void> {
    await fresh
    await database.runExclusive(async () => {
      if (isClosing) return
      // Copied, because the next query overwrites PGlite's memory.
      await database.execProtocolRawStream(bytes, { onRawData: output => port.postMessage(output.slice()) })
    })
  }
}
