import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { type BuildOptions, build } from '../../../build.ts'
import { makeFolder } from '../../../folder.ts'

/** What a panel kept of a request, as a program reads it. */
export interface PanelJson<Data> {
  token: string
  panel: string
  data: Data
}

interface Response {
  headers: Record<string, number | string | string[] | undefined>
}

/** The app with diagnostics on, whose profiles are gone after the test. */
export function buildDebugged (t: Test, { environment, ...options }: BuildOptions): Promise<FastifyInstance> {
  return build(t, { environment: { DEBUG: '1', DATA_DIR: makeFolder(t), ...environment }, ...options })
}

/** What the panel shows a program of the request that was answered so. */
export async function panelOf<Data> (app: FastifyInstance, answered: Response, panel: string): Promise<Data> {
  return (await openPanel(app, answered, panel, 'application/json')).json<PanelJson<Data>>().data
}

/** What the panel shows of the request that was answered so, as text/html or text/markdown. */
export async function readPanel (app: FastifyInstance, answered: Response, panel: string, type: string): Promise<string> {
  return (await openPanel(app, answered, panel, type)).body
}

function openPanel (app: FastifyInstance, { headers }: Response, panel: string, accept: string) {
  return app.inject({ url: `/_profiler/${String(headers['x-debug-token'])}?panel=${panel}`, headers: { accept, host: 'localhost' } })
}
