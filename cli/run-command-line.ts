import type { Additions } from '../app.ts'
import { readConfig } from '../src/config.ts'
import { openDatabase } from '../src/database/database.ts'
import { showElapsedTime } from '../src/elapsed-time.ts'
import { reasonOf } from '../src/errors/start-error.ts'
import { run } from './run.ts'
import type { Terminal } from './terminal.ts'

/**
 * Runs the command that the process's arguments name, and sets the process's exit code.
 * @param additions what an application that is built on Portico adds
 */
export async function runCommandLine(additions: Additions = {}): Promise<void> {
  const { stdin: input, stdout: output, stderr: errors } = process
  const { migrations } = additions
  endWithOutput({ output, errors }, process.exit)
  process.exitCode = await run(process.argv.slice(2), {
    input,
    output,
    errors,
    systemUser: systemUserOf(process.env, process.getuid?.()),
    port: () => readConfig(process.env, '.env').port,
    additions,
    async openDatabase(options) {
      const config = readConfig(process.env, '.env')
      const onCreation = showElapsedTime.bind(undefined, errors, `Creating the database in ${config.dataDir}`)
      return await openDatabase({ ...config, patient: true, migrations, onCreation, ...options })
    },
  })
}

/**
 * The name of the system's user who runs this process: who called sudo, or who is logged in.
 * @param uid names the user where the environment does not, as in a container
 */
export function systemUserOf({ SUDO_USER, LOGNAME, USER }: NodeJS.ProcessEnv, uid: number | undefined): string {
  return [SUDO_USER, LOGNAME, USER].find(name => name !== undefined && name !== '') ?? `uid ${uid}`
}

/** Ends the process if its output cannot be written. A closed pipe, as in "| head", is not an error. */
export function endWithOutput(
  { output, errors }: Pick<Terminal, 'output' | 'errors'>,
  exit: (code: number) => void,
): void {
  output.on('error', (error: NodeJS.ErrnoException) => {
    const isCut = error.code === 'EPIPE'
    if (!isCut) errors.write(`portico: The output cannot be written: ${reasonOf(error)}.\n`)
    exit(isCut ? 0 : 1)
  })
}
