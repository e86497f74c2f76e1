import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { type AppOptions, buildApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { makeFolder } from './folder.ts'

export interface BuildOptions extends Omit<AppOptions, 'config'> {
  /** Environment variables that configure the app. */
  environment?: Record<string, string>
}

/** Builds the app as it is served, and closes it after the test. */
export async function build(t: Test, { environment = {}, ...options }: BuildOptions): Promise<FastifyInstance> {
  const app = await buildApp({ config: readConfig({ DATA_DIR: makeFolder(t), ...environment }), ...options })
  t.teardown(() => app.close())
  return app
}
