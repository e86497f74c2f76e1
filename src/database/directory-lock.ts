import { once } from 'node:events'
import { lstatSync, renameSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join, relative } from 'node:path'
import { reasonOf, StartError } from '../errors/start-error.ts'
import { closeToOthers } from './private-folder.ts'

/** In bytes, what the path of a socket may measure on every system that has them. */
const longestPath = 103
const openElsewhere = 'another process has it open'

/**
 * Keeps a folder for this process: two PGlites in one folder destroy it. The lock is a listening socket, so that
 * the system itself lets go of it when the process dies, however it dies.
 * @returns the function that lets go of it
 * @throws {StartError} where another process has it, or the folder cannot hold a socket
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
    // The system says the same of a folder that is not there.
    const reason = hasCode(error, 'EACCES') ? 'this user may not write to it, or it is gone' : reasonOf(error)
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

/** Removes the socket that a killed process left behind, and listens in its place. */
async function takeOver(path: string): Promise<() => void> {
  if (!lstatSync(path).isSocket()) throw new Error(`${path} is not the socket that it is locked by`)
  if (!(await isDead(path))) throw new Error(openElsewhere)
  // Moved aside before it is looked at again: of two processes that find the same dead socket, one gets it.
  const aside = `${path}.${process.pid}`
  renameSync(path, aside)
  if (!(await isDead(aside))) {
    renameSync(aside, path)
    throw new Error(openElsewhere)
  }
  rmSync(aside)
  return await listen(path)
}

/** Whether nobody listens any more. One that is busy, or another user's, or that has just gone, is not known to be dead. */
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
