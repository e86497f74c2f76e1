import type { FastifyInstance } from 'fastify'
import { attempt } from '../../core/foreign-value.ts'
import { isSameOrigin } from '../../core/view/page-guard.ts'
import type { PageSources } from '../../core/feature.ts'

/** Bytes of one report. */
const reportMost = 16_000

const answers = { added: 204, full: 429, unknown: 404 } as const

/** Takes what pages report about themselves, such as errors of their scripts. Their toolbar sends it. */
export function browserRoutes(app: FastifyInstance, { archive, base, readReport }: PageSources): void {
  app.post<{ Params: { token: string } }>(
    `${base}/:token/browser`,
    { bodyLimit: reportMost },
    async function addReport(request, reply) {
      if (!isSameOrigin(request.raw)) return reply.code(403).send()
      const events = readReport(attempt((): unknown => JSON.parse(String(request.body)), null))
      if (events.length === 0) return reply.code(400).send()
      return reply.code(answers[await archive.addBrowserEvents(request.params.token, events)]).send()
    },
  )
}
