import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Application } from './catalogue.ts'

/** The flag, for Node and for whatever it starts. */
const flag = '--import=fastify-profiler/register'

/** An application that listens. */
export interface Running {
  origin: string
  /** Milliseconds from the start of the process to its origin on stdout. */
  boot: number
  stop(): Promise<void>
}

/** Starts an application with or without the profiler. */
export async function start(
  { name, start = ['server.js'] }: Application,
  folder: string,
  environment: NodeJS.ProcessEnv,
  isProfiled: boolean,
): Promise<Running> {
  const began = performance.now()
  const child = spawn(process.execPath, start, {
    cwd: folder,
    env: { ...environment, PORT: '0', NODE_OPTIONS: isProfiled ? flag : '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const complaints: string[] = []
  child.stderr.on('data', data => complaints.push(String(data)))
  for await (const line of createInterface(child.stdout)) {
    const origin = /http:\/\/[\w.[\]:]+:\d+/.exec(line)?.[0]
    if (origin === undefined) continue
    child.stdout.resume()
    return { origin, boot: performance.now() - began, stop: () => stop(child) }
  }
  throw new Error(`"${name}" does not start. ${complaints.join('')}`)
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
