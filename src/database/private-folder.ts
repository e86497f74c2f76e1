import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The names of everything that Portico puts into DATA_DIR. */
const ownName = /^(?:pglite|profiles|lock(?:\.\d+)?)$/
const profileName = /^profiles-.+\.ndjson$/
const open = 0o077
const special = 0o7000

/**
 * Creates DATA_DIR if it does not exist. An existing folder is closed to other users only if Portico put everything in
 * it: "." or a home directory is not ours to close, nor is a folder with a sticky or setgid bit such as /tmp.
 */
export function makeDataDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  closeIfOurs(directory)
}

/**
 * Closes DATA_DIR, if it is ours, and its profiles to other users, even if the database is elsewhere. Older versions
 * left profiles open.
 */
export function closeDataDirectory(directory: string): void {
  try {
    closeIfOurs(directory)
    const profiles = join(directory, 'profiles')
    // Another program's folder may be called "profiles", too.
    if (readdirSync(profiles).some(name => profileName.test(name))) closeFolder(profiles)
  } catch {
    // They do not exist, or belong to another user.
  }
}

function closeIfOurs(directory: string): void {
  const { uid, mode } = statSync(directory)
  const isOurs = uid === currentUser() && (mode & special) === 0
  if (isOurs && readdirSync(directory).every(name => ownName.test(name))) closeToOthers(directory)
}

/**
 * Creates a folder that only this user can open. An existing folder is closed with everything in it, because older
 * versions left files open to everybody.
 * @throws {Error} if any file belongs to another user
 */
export function makePrivateFolder(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  closeFolder(directory)
}

/**
 * Removes the permissions of group and others from a folder and everything in it.
 * @throws {Error} if the folder does not exist, or any file belongs to another user
 */
export function closeFolder(directory: string): void {
  // The folder comes first, so that its files cannot be reached meanwhile.
  closeToOthers(directory)
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() || entry.isDirectory()) closeToOthers(join(entry.parentPath, entry.name))
  }
}

/**
 * Removes the permissions of group and others from a file, folder or socket.
 * @throws {Error} if it belongs to another user
 */
export function closeToOthers(path: string): void {
  const { uid, mode } = statSync(path)
  const user = currentUser()
  // Root may use other users' files: a container does so with a mounted folder.
  if (uid !== user && user !== 0) throw new Error(`${path} belongs to another user`)
  if ((mode & open) !== 0) chmodSync(path, mode & ~open)
}

function currentUser(): number | undefined {
  return process.geteuid?.()
}
