#!/usr/bin/env node
// The command `portico` of the package, for the site in the current folder. It builds what has changed, and then starts
// the server or runs a command.
import { build } from './build.js'

const [word, ...others] = process.argv.slice(2)
const launch = others.length === 0 ? word : undefined
// npm does not forward SIGHUP and cannot forward SIGKILL, so that the server has to watch it.
if (process.env.npm_lifecycle_event !== undefined) process.env.PARENT_PID ??= String(process.ppid)
process.setSourceMapsEnabled(true)

if (launch === 'dev') await import('./dev.js')
else {
  await build()
  if (launch === 'start') await import('./dist/server.js')
  else if (launch !== 'build') await import('./dist/cli/main.js')
}
