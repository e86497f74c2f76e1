import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import type {} from '../../plugins/record-kinds.ts'
import { etagOf } from '../../src/http/etag.ts'
import { auditFiltersOf, auditLine, listAudit } from '../../src/records/audit.ts'
import { positionOf, writeCursor } from '../../src/records/selection.ts'
import { requireAdmin } from './admission.ts'
import { listAnswers } from './answers.ts'
import { listHeaders, paging } from './record-schemas.ts'

/** Newest first. */
const sort = '-id'

/** GET /audit: who changed what. Lines cannot be changed through the API. */
export default async function auditRoute(app: FastifyInstance) {
  app.withTypeProvider<TypeBoxTypeProvider>().get(
    '/audit',
    {
      onRequest: requireAdmin,
      schema: {
        tags: ['audit'],
        operationId: 'listAudit',
        summary: 'List who changed what, newest first',
        description: 'For admins. The "next" of a page is the "cursor" of the following one.',
        querystring: Type.Object(
          { ...Type.Partial(Type.Object(auditFiltersOf(app.recordKinds))).properties, ...paging },
          { additionalProperties: false },
        ),
        headers: listHeaders,
        response: listAnswers(auditLine, [], 'AuditPage', 'A page of the audit.', {}),
      },
    },
    async function list(request, reply) {
      const { limit = 50, cursor, _locale, ...filters } = request.query
      const before = positionOf(cursor, sort)
      const { lines, isLast } = await listAudit(app.database.db, filters, before?.id, limit)
      const last = isLast ? undefined : lines.at(-1)
      const page = {
        items: lines,
        next: last === undefined ? null : writeCursor({ sort, value: last.id, id: last.id }),
      }
      return reply
        .varyOn('Cookie')
        .header('etag', etagOf(JSON.stringify(page)))
        .send(page)
    },
  )
}
