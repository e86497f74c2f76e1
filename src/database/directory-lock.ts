import { once } from 'node:events'
import { lstatSync, renameSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join, relative } from 'node:path'
import { reasonOf, StartError } from '../errors/start-error.ts'
import { closeToOthers } from './private-folder.ts'

/** The longest socket path in bytes that all supported systems accept. */
const longestPath = 103
const openElsewhere = 'another process has it open'

/**
 * Locks a folder for this process, because two PGlites in one folder destroy its data. The lock is a listening socket,
 * so the system releases it however the process dies.
 * @returns a function that releases the lock
 * @throws {StartError} if another process holds the lock, or the folder cannot hold a socket
 */
export async function lockDirectory(directory: string): Promise<() => void> {
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
    // Node reports EACCES for a missing folder, too.
    const reason = hasCode(error, 'EACCES') ? 'this user may not write to it, or it does not exist' : reasonOf(error)
    throw new StartError(`DATA_DIR ${directory} cannot be locked: ${reason}.`, { cause: error })
  }
}

function shorter(path: string): string {
  const fromHere = relative(process.cwd(), path)
  return fromHere.length < path.length ? fromHere : path
}

async function listen(path: string): Promise<() => void> {
  const server = createServer(socket => socket.destroy()).listen(path)
  await once(server, 'listening')
  server.unref()
  closeToOthers(path)
  return () => server.close()
}

/** Replaces the socket that a killed process left behind. */
async function takeOver(path: string): Promise<() => void> {
  if (!lstatSync(path).isSocket()) throw new Error(`${path} is not a socket`)
  if (!(await isDead(path))) throw new Error(openElsewhere)
  // If two processes find the same dead socket, only one of them can rename it.
  const aside = `${path}.${process.pid}`
  renameSync(path, aside)
  if (!(await isDead(aside))) {
    renameSync(aside, path)
    throw new Error(openElsewhere)
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
