import { once } from 'node:events'
import { renameSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join, relative } from 'node:path'
import { StartError } from '../start-error.ts'

/** In bytes, what the path of a socket may measure on every system that has them. */
const longestPath = 103

/**
 * Keeps a folder for this process: two PGlites in one folder destroy it. The lock is a listening socket, so that
 * the system itself lets go of it when the process dies, however it dies.
 * @returns the function that lets go of it
 * @throws {StartError} where another process has it, or the folder cannot hold a socket
 */
export async function lockDirectory (directory: string): Promise<() => void> {
  const path = shorter(join(directory, 'lock'))
  if (Buffer.byteLength(path) > longestPath) throw new StartError(`DATA_DIR must be a shorter path: ${path} has more than ${longestPath} bytes.`)
  try {
    return await listen(path).catch(error => {
      if (error.code !== 'EADDRINUSE') throw error
      return takeOver(path)
    })
  } catch (error) {
    throw new StartError(`DATA_DIR ${directory} cannot be locked: ${error instanceof Error ? error.message : error}.`, { cause: error })
  }
}

function shorter (path: string): string {
  const fromHere = relative(process.cwd(), path)
  return fromHere.length < path.length ? fromHere : path
}

async function listen (path: string): Promise<() => void> {
  const server = createServer(socket => socket.destroy()).listen(path)
  await once(server, 'listening')
  server.unref()
  return () => server.close()
}

/** Removes the socket that a killed process left behind, and listens in its place. */
async function takeOver (path: string): Promise<() => void> {
  if (await isAlive(path)) throw new Error('another process has it open')
  // Moved aside before it is looked at again: of two processes that find the same dead socket, one gets it.
  const aside = `${path}.${process.pid}`
  renameSync(path, aside)
  if (await isAlive(aside)) {
    renameSync(aside, path)
    throw new Error('another process has it open')
  }
  rmSync(aside)
  return await listen(path)
}

async function isAlive (path: string): Promise<boolean> {
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
