import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Usage } from './usage.ts'

/** A server in its own process. */
export interface ServerProcess {
  port: number
  /** What it uses after a garbage collection. */
  usage: () => Promise<Usage>
  /** Whether it has ended on its own. */
  hasEnded: () => boolean
  stop: () => Promise<void>
}

/** Starts one with its own embedded database and these environment variables. */
export async function startServer(environment: Record<string, string>): Promise<ServerProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-show-'))
  const child = fork(fileURLToPath(new URL('serve.js', import.meta.url)), [], {
    execArgv: ['--expose-gc', '--enable-source-maps'],
    env: { ...process.env, DATA_DIR: folder, ...environment },
  })
  const ended = once(child, 'exit').then(() => {
    throw new Error('The server has exited. Its output above says why.')
  })
  ended.catch(() => {})
  const told = async () => {
    const [message]: unknown[] = await Promise.race([once(child, 'message'), ended])
    return (name: string) => Number(Reflect.get(Object(message), name))
  }
  return {
    port: (await told())('port'),
    async usage() {
      child.send('usage')
      const number = await told()
      return { heap: number('heap'), resident: number('resident'), descriptors: number('descriptors') }
    },
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    async stop() {
      if (child.connected) child.disconnect()
      await ended.catch(() => {})
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
