import { once } from 'node:events'
import { lstatSync, renameSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join, relative } from 'node:path'
import { reasonOf, StartError } from '../errors/start-error.ts'
import { closeToOthers } from './private-folder.ts'

const isHeld = new Error('The lock is held.')

/** The longest socket path in bytes that all supported systems accept. */
const longestPath = 103

/** Another process has locked the folder. */
export class LockedError extends StartError {
  readonly path: string

  constructor(directory: string, path: string) {
    super(`DATA_DIR ${directory} cannot be locked: another process has it open.`)
    this.path = path
  }
}

/** A locked folder. */
interface DirectoryLock {
  /**
   * Hands over the connections of processes that wait for the lock: those that wait already, and all to come. They wait
   * until their connection closes, which is at the latest when the lock is released.
   */
  onWaiting: (serve: (socket: Socket) => void) => void
  release: () => void
}

/**
 * Locks a folder for this process, because two PGlites in one folder destroy its data. The lock is a listening socket,
 * so the system releases it however the process dies.
 * @throws {LockedError} if another process holds the lock
 * @throws {StartError} if the folder cannot hold a socket
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const path = shorter(join(directory, 'lock'))
  if (Buffer.byteLength(path) > longestPath) {
    throw new StartError(`DATA_DIR must be a shorter path: ${path} has more than ${longestPath} bytes.`)
  }
  try {
    return await listen(path).catch((error: unknown) => {
      if (!hasCode(error, 'EADDRINUSE')) throw error
      return takeOver(path)
    })
  } catch (error) {
    if (error === isHeld) throw new LockedError(directory, path)
    // Node reports EACCES for a missing folder, too.
    const reason = hasCode(error, 'EACCES') ? 'this user may not write to it, or it does not exist' : reasonOf(error)
    throw new StartError(`DATA_DIR ${directory} cannot be locked: ${reason}.`, { cause: error })
  }
}

function shorter(path: string): string {
  const fromHere = relative(process.cwd(), path)
  return fromHere.length < path.length ? fromHere : path
}

async function listen(path: string): Promise<DirectoryLock> {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    // A waiting process does not keep this one running, and one that is killed does not end it.
    socket.unref().on('error', () => {})
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  }).listen(path)
  await once(server, 'listening')
  server.unref()
  closeToOthers(path)
  return {
    onWaiting(serve) {
      for (const socket of sockets) serve(socket)
      server.on('connection', serve)
    },
    release() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Replaces the socket that a killed process left behind. */
async function takeOver(path: string): Promise<DirectoryLock> {
  if (!lstatSync(path).isSocket()) throw new Error(`${path} is not a socket`)
  if (!(await isDead(path))) throw isHeld
  // If two processes find the same dead socket, only one of them can rename it.
  const aside = `${path}.${process.pid}`
  renameSync(path, aside)
  if (!(await isDead(aside))) {
    renameSync(aside, path)
    throw isHeld
  }
  rmSync(aside)
  return await listen(path)
}

/** Whether the socket refuses connections. Any other failure, such as EACCES or ENOENT, does not prove it dead. */
async function isDead(path: string): Promise<boolean> {
  const socket = connect(path)
  const isDead = await once(socket, 'connect').then(
    () => false,
    (error: unknown) => hasCode(error, 'ECONNREFUSED'),
  )
  socket.destroy()
  return isDead
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
