import { once } from 'node:events'
import { extname, join } from 'node:path'
import { Duplex } from 'node:stream'
import { type MessagePort, MessageChannel, Worker } from 'node:worker_threads'
import pg from 'pg'
import { reasonOf, StartError } from '../errors/start-error.ts'
import { lockDirectory } from './directory-lock.ts'
import { makeDataDirectory, makePrivateFolder } from './private-folder.ts'

/** A PGlite in a worker thread. pg connects to it as to any PostgreSQL. */
export interface EmbeddedDatabase {
  /** Has one connection, because PGlite has one session. A second query waits for the first, or for its transaction. */
  pool: pg.Pool
  /** Ends the worker. Call it after the pool has ended. */
  close: () => Promise<void>
}

/**
 * Opens PGlite in a folder that only this user can read. Creates the folder if it does not exist.
 * @param onConnect awaited before a new connection's first query
 * @throws {StartError} if the folder cannot be used, or another process has it open
 */
export async function openEmbedded(
  dataDir: string,
  onConnect: (client: pg.ClientBase) => Promise<void>,
): Promise<EmbeddedDatabase> {
  try {
    makeDataDirectory(dataDir)
  } catch (error) {
    throw new StartError(`DATA_DIR ${dataDir} cannot be used: ${reasonOf(error)}.`, { cause: error })
  }
  const unlock = await lockDirectory(dataDir)
  try {
    const directory = join(dataDir, 'pglite')
    makePrivateFolder(directory)
    const worker = await startWorker(directory)
    return {
      pool: new pg.Pool({
        max: 1,
        idleTimeoutMillis: 0,
        user: 'postgres',
        database: 'postgres',
        ssl: false,
        onConnect,
        stream: () => new EmbeddedStream(worker),
      }),
      close: () => stopWorker(worker).finally(unlock),
    }
  } catch (error) {
    unlock()
    throw new StartError(`The embedded database in ${dataDir} cannot be opened: ${reasonOf(error)}.`, { cause: error })
  }
}

async function startWorker(directory: string): Promise<Worker> {
  // The worker has this file's extension: .ts when run from source, .js when built.
  const worker = new Worker(new URL(`embedded-worker${extname(import.meta.url)}`, import.meta.url), {
    workerData: directory,
  })
  await once(worker, 'message')
  return worker
}

async function stopWorker(worker: Worker): Promise<void> {
  worker.postMessage('close')
  await once(worker, 'exit')
}

/** Stands in for pg's socket. */
class EmbeddedStream extends Duplex {
  readonly #worker: Worker
  #port: MessagePort | undefined

  constructor(worker: Worker) {
    super()
    this.#worker = worker
  }

  connect(): this {
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    port1.on('message', (bytes: Uint8Array) => this.push(Buffer.from(bytes.buffer)))
    port1.once('close', () => this.destroy())
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

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    this.#port?.postMessage(Uint8Array.from(chunk))
    callback()
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
