import type { Author } from '../src/records/audit.ts'
import type { Terminal } from './command.ts'

/** Who makes the changes of a command. */
export function commandAuthor({ systemUser }: Terminal): Author {
  return { via: 'command', user: null, tokenId: null, systemUser: systemUser ?? null }
}

/**
 * The name of the system's user who runs this process: who called sudo, or who is logged in.
 * @param uid names the user where the environment does not, as in a container
 */
export function systemUserOf({ SUDO_USER, LOGNAME, USER }: NodeJS.ProcessEnv, uid: number | undefined): string {
  return [SUDO_USER, LOGNAME, USER].find(name => name !== undefined && name !== '') ?? `uid ${uid}`
}
