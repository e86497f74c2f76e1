import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { etagOf } from '../../src/http/etag.ts'
import { positionOf, writeCursor } from '../../src/records/selection.ts'
import type { RecordKind } from '../../src/records/record-kind.ts'
import { countRecords, listRecords } from '../../src/records/repository.ts'
import { admissionTo } from './admission.ts'
import { pageAnswer } from './answers.ts'
import { listAnswers } from './list-answers.ts'
import { operation, readersOf } from './operation.ts'
import { listHeaders, listQuery, securityOf } from './record-schemas.ts'
import { scopeOf } from './record-scope.ts'

/** GET a page of records. */
export function listRoute(app: FastifyInstance, kind: RecordKind): void {
  app.withTypeProvider<TypeBoxTypeProvider>().get(
    '/',
    {
      prefixTrailingSlash: 'no-slash',
      ...admissionTo(kind),
      schema: {
        ...operation(
          'list',
          kind,
          kind.plural,
          `${readersOf(kind)} A record has to match all filters. The "next" of a page is the "cursor" of the following one.`,
        ),
        security: securityOf(kind),
        querystring: listQuery(kind),
        headers: listHeaders,
        response: listAnswers(pageAnswer(kind)),
      },
    },
    async function list(request, reply) {
      const { sort = 'id', limit = 50, cursor, total = false, _locale, ...asked } = request.query
      const after = positionOf(cursor, sort)
      const scope = scopeOf(request, asked)
      const { records, next } = await listRecords(app.database.db, kind, { filters: asked, scope, sort, limit, after })
      const counted = total ? { total: await countRecords(app.database.db, kind, { ...asked, ...scope }) } : {}
      const page = { items: records, next: next && writeCursor(next), ...counted }
      return reply
        .varyOn('Cookie')
        .header('etag', etagOf(JSON.stringify(page)))
        .send(page)
    },
  )
}
