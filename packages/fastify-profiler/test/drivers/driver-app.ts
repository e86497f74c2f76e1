import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import type { Profile } from '../../core/profile.ts'
import type { ProfilerOptions } from '../../index.ts'
import { onlyProfile, profiledApp } from '../profiled-app.ts'

/** The line of a test file that ends with this comment. */
export function linesOf(file: string): (comment: string) => number {
  const source = readFileSync(file.replace('/dist/', '/').replace(/js$/, 'ts'), 'utf8').split('\n')
  return comment => source.findIndex(line => line.endsWith(`// ${comment}`)) + 1
}

/** The profile of a request whose handler runs this. */
export async function profileOf(
  t: Test,
  run: (app: FastifyInstance) => unknown,
  options: ProfilerOptions = {},
): Promise<Profile> {
  const app = await profiledApp(t, options)
  app.get('/run', async () => {
    await run(app)
    return 'done'
  })
  await app.inject('/run')
  return await onlyProfile(t, app, '/run')
}
