import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** All that Portico ever puts into DATA_DIR. */
const ownName = /^(?:pglite|profiles|lock(?:\.\d+)?)$/
const profileName = /^profiles-.+\.ndjson$/
const open = 0o077
const special = 0o7000

/**
 * Makes DATA_DIR where there is none. One that is there is closed to other users only if it holds nothing but what
 * Portico put into it: "." or a home is not ours to close, nor is what has a sticky or setgid bit, as /tmp.
 */
export function makeDataDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  closeIfOurs(directory)
}

/**
 * Closes DATA_DIR, where it is ours, and the profiles in it to other users, whatever database is used: a server that
 * was debugged may have left them open.
 */
export function closeDataDirectory(directory: string): void {
  try {
    closeIfOurs(directory)
    const profiles = join(directory, 'profiles')
    // Another program may have a folder of that name.
    if (readdirSync(profiles).some(name => profileName.test(name))) closeFolder(profiles)
  } catch {
    // There are none, or they are another user's.
  }
}

function closeIfOurs(directory: string): void {
  const { uid, mode } = statSync(directory)
  const isOurs = uid === currentUser() && (mode & special) === 0
  if (isOurs && readdirSync(directory).every(name => ownName.test(name))) closeToOthers(directory)
}

/**
 * Makes a folder that only this user can open. One that is there is closed with all that is in it: older versions left
 * their files open to everybody.
 * @throws {Error} where any of it is another user's
 */
export function makePrivateFolder(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  closeFolder(directory)
}

/**
 * Takes all that its group and others may do with a folder and with all that is in it.
 * @throws {Error} where there is none, or any of it is another user's
 */
export function closeFolder(directory: string): void {
  // The folder first: once it is closed nobody gets at what is in it.
  closeToOthers(directory)
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() || entry.isDirectory()) closeToOthers(join(entry.parentPath, entry.name))
  }
}

/**
 * Takes all that its group and others may do with a file, folder or socket.
 * @throws {Error} where it is another user's
 */
export function closeToOthers(path: string): void {
  const { uid, mode } = statSync(path)
  const user = currentUser()
  // Root may use what belongs to others, as a container does with a folder that is mounted into it.
  if (uid !== user && user !== 0) throw new Error(`${path} belongs to another user`)
  if ((mode & open) !== 0) chmodSync(path, mode & ~open)
}

function currentUser(): number {
  return Number(process.geteuid?.())
}
