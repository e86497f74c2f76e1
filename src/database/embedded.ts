import { once } from 'node:events'
import { existsSync, statfsSync } from 'node:fs'
import { extname, join } from 'node:path'
import { addAbortSignal, Duplex } from 'node:stream'
import { type MessagePort, MessageChannel, Worker } from 'node:worker_threads'
import pg from 'pg'
import { reasonOf, StartError } from '../errors/start-error.ts'
import { lockDirectory } from './directory-lock.ts'
import { crashed } from './failures.ts'
import { makeFolder, makePrivateFolder } from './private-folder.ts'

/** How pg connects to a PGlite. */
export const embeddedConfig = { user: 'postgres', database: 'postgres', ssl: false }

/** Called before an embedded database is created, which takes seconds. */
export type OnCreation = () => void

/**
 * Opens PGlite in a worker thread, and in a folder that only this user can read. Creates the folder if it does not
 * exist. pg connects to it as to any PostgreSQL.
 * @param onConnect awaited before a new connection's first query
 * @throws {StartError} if the folder cannot be used, or another process has it open
 */
export async function openEmbedded(
  dataDir: string,
  onConnect: (client: pg.ClientBase) => Promise<void>,
  onCreation: OnCreation = () => {},
) {
  try {
    makeFolder(dataDir)
  } catch (error) {
    throw new StartError(`DATA_DIR ${dataDir} cannot be used: ${reasonOf(error)}.`, { cause: error })
  }
  const lock = await lockDirectory(dataDir)
  try {
    const directory = join(dataDir, 'pglite')
    makePrivateFolder(directory)
    if (!existsSync(join(directory, 'PG_VERSION'))) onCreation()
    const worker = await startWorker(directory)
    const exited = new Promise(resolve => worker.once('exit', resolve))
    const death = new AbortController()
    const die = (reason: unknown) => {
      death.abort(crashed(`The embedded database in ${dataDir} has failed: ${withFreeSpace(reason, dataDir)}`))
    }
    worker.once('message', die).once('error', die)
    const stream = () => addAbortSignal(death.signal, new EmbeddedStream(worker))
    return {
      /** Has one connection, because PGlite has one session. A second query waits for the first, or its transaction. */
      pool: new pg.Pool({ ...embeddedConfig, max: 1, idleTimeoutMillis: 0, onConnect, stream }),
      /** Opens another connection to the same session, for use while nobody uses the pool's. */
      connect: () => stream().connect(),
      onWaiting: lock.onWaiting,
      /** Aborted with an error if PostgreSQL dies, for example because the disk is full. */
      death: death.signal,
      /** Ends the worker. Call it after the pool has ended. */
      async close() {
        worker.postMessage('close')
        await exited
        lock.release()
      },
    }
  } catch (error) {
    lock.release()
    throw new StartError(`The embedded database in ${dataDir} cannot be opened: ${reasonOf(error)}.`, { cause: error })
  }
}

/** A full disk is the usual reason, even if the error does not name it. */
function withFreeSpace(error: unknown, folder: string): string {
  const reason = reasonOf(error)
  try {
    const { bavail, bsize } = statfsSync(folder)
    return `${reason} (its disk has ${Math.floor((bavail * bsize) / 1e6).toLocaleString('en')} MB left)`
  } catch {
    // Somebody has removed the folder.
    return reason
  }
}

async function startWorker(directory: string): Promise<Worker> {
  // The worker has this file's extension: .ts when run from source, .js when built.
  const worker = new Worker(new URL(`embedded-worker${extname(import.meta.url)}`, import.meta.url), {
    workerData: directory,
  })
  const messages: unknown[] = await once(worker, 'message')
  if (typeof messages[0] === 'string') throw new Error(withFreeSpace(messages[0], directory))
  return worker
}

/** Stands in for pg's socket. A write is done once PGlite has processed it. */
class EmbeddedStream extends Duplex {
  readonly #worker: Worker
  #port: MessagePort | undefined
  #endWrite = () => {}

  constructor(worker: Worker) {
    // Makes a pipeline wait for the end of each write.
    super({ writableHighWaterMark: 1 })
    this.#worker = worker
  }

  connect(): this {
    if (this.destroyed) return this
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    port1.on('message', (bytes: Uint8Array | null) => {
      if (bytes === null) this.#endWrite()
      else this.push(Buffer.from(bytes.buffer))
    })
    this.#worker.postMessage(port2, [port2])
    process.nextTick(() => this.emit('connect'))
    return this
  }

  setNoDelay(): this {
    return this
  }

  /** Does nothing: the worker itself keeps the process running. */
  ref(): this {
    return this
  }

  override _read(): void {}

  override _writev(chunks: Array<{ chunk: Buffer }>, callback: () => void): void {
    this.#endWrite = callback
    this.#port?.postMessage(Uint8Array.from(Buffer.concat(chunks.map(({ chunk }) => chunk))))
  }

  override _final(callback: () => void): void {
    this.push(null)
    callback()
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#port?.close()
    callback(error)
  }
}
