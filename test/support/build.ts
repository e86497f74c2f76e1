import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { type AppOptions, buildApp } from '../../app.ts'
import { readConfig } from '../../src/config.ts'
import { makeFolder } from './folder.ts'

export interface BuildOptions extends Omit<AppOptions, 'config'> {
  /** Environment variables that configure the app. */
  environment?: Record<string, string>
}

/** The same for all apps: with a random one, keys of attempts to sign in would share a counter now and then. */
const COOKIE_SECRET = 'the cookie secret of all apps of the tests'

/** Builds the app as it is served, and closes it after the test. */
export async function build(t: Test, { environment = {}, ...options }: BuildOptions): Promise<FastifyInstance> {
  const config = readConfig({ DATA_DIR: makeFolder(t), COOKIE_SECRET, ...environment })
  const app = await buildApp({ config, variables: environment, ...options })
  t.teardown(() => app.close())
  return app
}
