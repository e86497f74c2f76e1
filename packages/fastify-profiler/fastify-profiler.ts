#!/usr/bin/env node
import { run } from './features/command-line/run-command.ts'
import { terminalOf } from './features/command-line/terminal.ts'

// A reader such as head has read enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  process.stderr.write(`fastify-profiler: ${String(error)}\n`)
  process.exit(1)
})

process.exitCode = await run(process.argv.slice(2), terminalOf(process))
