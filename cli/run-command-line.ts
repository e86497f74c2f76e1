import type { Additions } from '../app.ts'
import { readConfig } from '../src/config.ts'
import { openDatabase } from '../src/database/database.ts'
import { run } from './run.ts'
import { endWithOutput, systemUserOf, tellCreation } from './terminal.ts'

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
      const onCreation = () => tellCreation(errors, config.dataDir)
      return await openDatabase({ ...config, patient: true, migrations, onCreation, ...options })
    },
  })
}
