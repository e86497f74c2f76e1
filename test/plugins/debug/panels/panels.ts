import { once } from 'node:events'
import { connect } from 'node:net'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { sql } from 'kysely'
import type { Test } from 'tap'
import type { Database } from '../../../../src/database/database.ts'
import { build, type BuildOptions } from '../../../support/site.ts'
import { makeFolder } from '../../../support/folder.ts'

/** The names of all panels, in their order. */
export const panels = [
  ...['request', 'performance', 'cpu', 'exception', 'logs', 'lifecycle', 'routing', 'database', 'http-client'],
  ...['license', 'security', 'cache', 'configuration'],
]

export interface Answered {
  headers: Record<string, number | string | string[] | undefined>
}

/** The app with DEBUG=1, whose profiles are deleted after the test. */
export function buildDebugged(t: Test, { environment, ...options }: BuildOptions): Promise<FastifyInstance> {
  return build(t, { environment: { DEBUG: '1', DATA_DIR: makeFolder(t), ...environment }, ...options })
}

/** The data of a panel for the request with this response. */
export async function panelOf<Data>(app: FastifyInstance, answered: Answered, panel: string): Promise<Data> {
  return (await openPanel(app, answered, panel, 'application/json')).json<{ data: Data }>().data
}

/** A panel for the request with this response, as text/html or text/markdown. */
export async function readPanel(
  app: FastifyInstance,
  answered: Answered,
  panel: string,
  type: string,
): Promise<string> {
  return (await openPanel(app, answered, panel, type)).body
}

/** What a client receives, with the headers in their order, except the date and what only a profiled answer has. */
export function withoutProfile({ statusCode, headers, body }: LightMyRequestResponse) {
  const own = Object.entries(headers).filter(([name]) => !/^(?:date|x-debug-.*|x-robots-tag|server-timing)$/.test(name))
  return { statusCode, headers: own, body }
}

/** All panels for the request with this response, in every form. */
export async function readPanels(app: FastifyInstance, answered: Answered): Promise<string> {
  const forms = ['application/json', 'text/html', 'text/markdown']
  const read = forms.flatMap(type => panels.map(panel => readPanel(app, answered, panel, type)))
  return (await Promise.all(read)).join('\n')
}

function openPanel(app: FastifyInstance, { headers }: Answered, panel: string, accept: string) {
  return app.inject({
    url: `/_profiler/${String(headers['x-debug-token'])}?panel=${panel}`,
    headers: { accept, host: 'localhost' },
  })
}

/**
 * Sends a request whose client leaves while it waits for a locked table.
 * @returns the headers that would have led to its profile
 */
export async function leaveDuringRead(
  app: FastifyInstance,
  { db }: Database,
  host: string,
  table: string,
): Promise<Answered> {
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  await db.transaction().execute(async transaction => {
    await sql`lock table ${sql.table(table)} in access exclusive mode`.execute(transaction)
    const socket = connect(Number(new URL(origin).port), '127.0.0.1')
    socket.write(`GET /left HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    await once(app.server, 'request')
    socket.destroy()
    while (app.profiler.pending > 0) await new Promise(resolve => setImmediate(resolve))
  })
  const { profiles } = await app.profiler.search({ url: '/left' })
  return { headers: { 'x-debug-token': profiles[0]?.token } }
}
