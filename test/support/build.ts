import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { type AppOptions, buildApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { makeFolder } from './folder.ts'

export interface BuildOptions extends Omit<AppOptions, 'config'> {
  /** Variables of the environment to configure the app by. */
  environment?: Record<string, string>
}

/** The very app that is served, closed after the test. */
export async function build(t: Test, { environment = {}, ...options }: BuildOptions): Promise<FastifyInstance> {
  const app = await buildApp({ config: readConfig({ DATA_DIR: makeFolder(t), ...environment }), ...options })
  t.teardown(() => app.close())
  return app
}
