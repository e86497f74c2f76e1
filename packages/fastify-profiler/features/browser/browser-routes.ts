import type { FastifyInstance } from 'fastify'
import { attempt } from '../../core/foreign-value.ts'
import { isSameOrigin } from '../../core/view/page-guard.ts'
import type { PageSources } from '../../core/feature.ts'
import { BrowserEvents, describeBrowserEvents } from './browser-events.ts'

/** Bytes of one report. */
const reportMost = 16_000

/** Takes what pages report about themselves, such as errors of their scripts. Their toolbar sends it. */
export function browserRoutes(app: FastifyInstance, { archive, base, bounds, secrets, store }: PageSources): void {
  const kept = new BrowserEvents(store.directory)

  app.post<{ Params: { token: string } }>(
    `${base}/:token/browser`,
    { bodyLimit: reportMost },
    async function addReport(request, reply) {
      if (!isSameOrigin(request.raw)) return reply.code(403).send()
      const { token } = request.params
      const report = attempt((): unknown => JSON.parse(String(request.body)), null)
      const events = describeBrowserEvents(report, bounds, secrets)
      if (events.length === 0) return reply.code(400).send()
      if (!(await archive.knows(token))) return reply.code(404).send()
      let isTaken = false
      store.tryToWrite(() => {
        isTaken = kept.add(token, events)
      })
      return reply.code(isTaken ? 204 : 429).send()
    },
  )
}
