import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const open = 0o077

/** Makes a folder and those above it. Node's recursive mkdirSync never returns if it is in /proc. */
export function makeFolder(directory: string): void {
  if (!existsSync(dirname(directory))) makeFolder(dirname(directory))
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) throw error
  }
}

/**
 * Makes a folder that only this user can open, and so everything in it.
 * @throws {Error} if it belongs to another user
 */
export function makePrivateFolder(directory: string): void {
  makeFolder(directory)
  closeToOthers(directory)
}

/**
 * Removes the permissions of group and others from a file, folder or socket.
 * @throws {Error} if it belongs to another user
 */
export function closeToOthers(path: string): void {
  const { uid, mode } = statSync(path)
  const user = process.geteuid?.()
  // Root may use other users' files: a container does so with a mounted folder.
  if (uid !== user && user !== 0) throw new Error(`${path} belongs to another user`)
  if ((mode & open) !== 0) chmodSync(path, mode & ~open)
}
