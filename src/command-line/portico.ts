import { readConfig } from '../config.ts'
import { openDatabase } from '../database/database.ts'
import { endWithOutput } from './end-with-output.ts'
import { run } from './run.ts'

const { stdin: input, stdout: output, stderr: errors } = process

endWithOutput({ output, errors }, process.exit)

process.exitCode = await run(process.argv.slice(2), {
  input,
  output,
  errors,
  openDatabase: async () => await openDatabase({ ...readConfig(process.env, '.env'), patient: true }),
})
