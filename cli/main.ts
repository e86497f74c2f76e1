import { setFlagsFromString } from 'node:v8'
import { readConfig } from '../src/config.ts'
import { openDatabase } from '../src/database/database.ts'
import { run } from './run.ts'
import { readSite } from './site.ts'
import { endWithOutput, systemUserOf, tellCreation } from './terminal.ts'

// Commands end before V8 could gain by optimising PGlite's WebAssembly: without this, each takes 0.7 s of CPU more.
setFlagsFromString('--liftoff-only')

// Runs the command that the process's arguments name, with what the site in the current folder adds.

const { stdin: input, stdout: output, stderr: errors } = process
endWithOutput({ output, errors }, process.exit)
const additions = await readSite().catch((error: unknown) => {
  console.error(error)
  process.exit(1)
})
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
    const { migrations, seeds } = additions
    return await openDatabase({ ...config, patient: true, migrations, seeds, onCreation, ...options })
  },
})
