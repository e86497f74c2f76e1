import { setImmediate as turn } from 'node:timers/promises'
import { inspect } from 'node:util'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'

// PGlite blocks its thread for the whole of a query, so it runs in a worker. Each MessagePort that arrives is one
// connection and carries PostgreSQL's wire protocol in both directions, and null after the answer to each write. The
// worker tells its parent null once the database is open. If PostgreSQL dies, it tells its parent why, and exits.

/** The exit status with which PostgreSQL returns to its main loop after an ordinary error. */
const ordinaryError = 100

/**
 * A PGlite that tells when PostgreSQL has died. PGlite itself ignores what ended it, such as a PANIC or a stack
 * overflow, and runs on: some statements are answered, some are not, and some wait for ever for a lock.
 */
class MortalPGlite extends PGlite {
  async open(onDeath: (cause: unknown) => void): Promise<this> {
    await this.waitReady
    const { mod } = this
    if (mod === undefined) return this
    const { _PostgresMainLoopOnce: runOnce } = mod
    mod._PostgresMainLoopOnce = () => {
      try {
        runOnce()
      } catch (error) {
        if (!(error instanceof Object && 'status' in error && error.status === ordinaryError)) onDeath(error)
        throw error
      }
    }
    return this
  }
}

process.on('uncaughtException', end)
/** Why PostgreSQL dies, as its log says. */
let reason: string | undefined
const database = await new MortalPGlite({
  dataDir: String(workerData),
  onStderr(line) {
    reason = /(?:FATAL|PANIC): +(.*)/.exec(line)?.[1] ?? reason
    return false
  },
}).open(end)
/** Once true, messages are ignored: they may arrive after PGlite has closed. */
let isClosing = false

parentPort?.on('message', (message: MessagePort | 'close') => {
  if (message !== 'close') return serve(message)
  isClosing = true
  void database.close().then(() => parentPort?.close())
})
parentPort?.postMessage(null)

function serve(port: MessagePort): void {
  // PGlite has one session. A new connection must not inherit the state of the last one.
  // In the next turn, since a connection that has closed may have left messages.
  const fresh = turn()
    .then(() => database.exec('rollback'))
    .then(() => database.exec('discard all'))
  port.on('message', (bytes: Uint8Array) => {
    void answer(bytes)
  })

  async function answer(bytes: Uint8Array): Promise<void> {
    await fresh
    await database.runExclusive(async () => {
      // Copied, because the next query overwrites PGlite's memory.
      const onRawData = (output: Uint8Array) => port.postMessage(output.slice())
      if (!isClosing) await database.execProtocolRawStream(bytes, { onRawData }).catch(end)
    })
    port.postMessage(null)
  }
}

/** Stops the thread before PGlite can go on. */
function end(cause: unknown): void {
  parentPort?.postMessage(reason ?? (cause instanceof Error ? cause.message : inspect(cause)))
  process.exit(1)
}
