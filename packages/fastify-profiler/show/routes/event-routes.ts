import type { FastifyInstance } from 'fastify'
import type { ProfileSummary } from '../../base/summary.ts'
import { serverId } from '../server-id.ts'
import { factsOf, renderProfileRow } from '../parts/profile-list.ts'
import type { PageSources } from './page-sources.ts'
import { queryOf } from './request-query.ts'

/** Browsers that may read at once. */
const readersMost = 50

/** The stream of new requests, for lists that follow them. */
export function eventRoutes(app: FastifyInstance, { archive, base, labels, live, panels }: PageSources): void {
  const options = { exposeHeadRoute: false, onRequest: serverId(archive) }
  app.get(`${base}/events`, options, async function followRequests(request, reply) {
    if (live.readers >= readersMost) {
      return reply.code(503).header('retry-after', '60').type('text/plain; charset=utf-8').send('Too many readers.\n')
    }
    const query = queryOf(request)
    const wanted = new Set(query.getAll('fact'))
    const facts = factsOf(labels).filter(({ name }) => wanted.has(name))
    const panel = panels.find(({ name }) => name === query.get('panel'))?.name
    // The command line shows rows of its own. Statements would fill the 64 kB of a reader.
    const rowOf =
      query.get('rows') === 'json'
        ? (summary: ProfileSummary) => JSON.stringify({ ...summary, statements: [] })
        : (summary: ProfileSummary) => renderProfileRow(summary, facts, { base, panel }).toString()
    reply.hijack()
    live.open(reply.raw, rowOf)
  })
  app.addHook('preClose', async function endEvents() {
    live.close()
  })
}
