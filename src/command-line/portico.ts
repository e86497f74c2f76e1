import { readConfig } from '../config.ts'
import { openDatabase } from '../database/database.ts'
import { reasonOf } from '../start-error.ts'
import { run } from './run.ts'

const { stdin: input, stdout: output, stderr: errors } = process

output.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever reads may have had enough, as head has.
  if (error.code === 'EPIPE') process.exit(0)
  errors.write(`portico: The output cannot be written: ${reasonOf(error)}.\n`)
  process.exit(1)
})

process.exitCode = await run(process.argv.slice(2), {
  input,
  output,
  errors,
  openDatabase: async () => await openDatabase({ ...readConfig(process.env, '.env'), patient: true })
})
