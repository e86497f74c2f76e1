import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import type { FastifyInstance } from 'fastify'
import { run } from '../features/command-line/run-command.ts'
import type { Terminal } from '../core/feature.ts'
import { standInService } from './drivers/stand-in-server.ts'
import { makeFolder } from './folder.ts'
import { listen, profiledApp } from './profiled-app.ts'
import { storeProfiles } from './stores.ts'
import { configuration, failedProfile, profile } from './views/example-profile.ts'

interface Said {
  code: number
  output: string
  errors: string
}

interface Typed extends Partial<Terminal> {
  /** What is typed. */
  typed?: string
}

/** A terminal on which something has been typed, and what is written to it. */
export function keptTerminal(folder: string, { typed = '', ...changes }: Typed = {}) {
  const input = new PassThrough()
  input.end(typed)
  const output = new PassThrough()
  const errors = new PassThrough()
  const terminal: Terminal = {
    input,
    output,
    errors,
    env: {},
    folder,
    isInteractive: false,
    isScreen: true,
    hasColors: false,
    columns: Infinity,
    ended: new AbortController().signal,
    ...changes,
  }
  return { terminal, output, errors }
}

/** Runs a command in a folder, until it ends. */
export async function command(folder: string, words: readonly string[], typed: Typed = {}): Promise<Said> {
  const { errors, output, terminal } = keptTerminal(folder, typed)
  const code = await run(words, terminal)
  output.end()
  errors.end()
  return { code, output: await text(output), errors: await text(errors) }
}

/** A folder with the profiles of an application that is down. */
export function folderOf(): string {
  const folder = makeFolder()
  const time = Date.now()
  const profiles = [
    profile({ token: 'before', time: time - 9000, duration: 48 }),
    profile({ token: 'since', time: time - 5000, duration: 6 }),
    failedProfile({ token: 'failed', time }),
  ]
  storeProfiles(join(folder, '.profiler'), profiles, configuration)
  return folder
}

/** An application that listens, and its folder. */
export async function runningApp(t: Test): Promise<{ app: FastifyInstance; folder: string; url: string }> {
  const folder = makeFolder()
  const app = await profiledApp(t, { directory: join(folder, '.profiler') })
  app.get('/fine', async () => 'fine')
  const { port } = await listen(app)
  return { app, folder, url: `http://localhost:${port}/_profiler/` }
}

/** A server that has nothing to do with the profiler. @returns its URL */
export async function strangeServer(
  t: Test,
  answer: (response: ServerResponse, path: string) => void,
): Promise<string> {
  const origin = await standInService(t, (request, response) => answer(response, String(request.url)))
  return `${origin.replace('127.0.0.1', 'localhost')}/_profiler/`
}
