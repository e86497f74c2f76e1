import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import type { RecordKind } from '../../src/records/record-kind.ts'
import { missingRecord, readRecord } from '../../src/records/repository.ts'
import { admissionTo, notAdmin } from './admission.ts'
import { recordAnswer, unchanged } from './answers.ts'
import { operation, readersOf } from './operation.ts'
import { assertPreconditions, etagOfRecord } from './preconditions.ts'
import { closed, malformed, missing, notAdmitted, outdated, tooManyTokens, unavailable } from './problems.ts'
import { onePath, readHeaders, recordParams, securityOf } from './record-schemas.ts'
import { scopeOf } from './record-scope.ts'

/** GET one record. */
export function readRoute(app: FastifyInstance, kind: RecordKind): void {
  app.withTypeProvider<TypeBoxTypeProvider>().get(
    onePath,
    {
      ...admissionTo(kind),
      schema: {
        ...operation('read', kind, kind.name, readersOf(kind)),
        security: securityOf(kind),
        params: recordParams(kind),
        headers: readHeaders,
        response: {
          200: recordAnswer(kind),
          304: unchanged,
          ...malformed('The id', 'id', 'must be an id: a whole number from 1 to 9223372036854775807, as text'),
          ...notAdmitted,
          ...missing(kind),
          ...outdated,
          ...closed,
          ...tooManyTokens,
          ...unavailable,
        },
      },
    },
    async function read(request, reply) {
      const { id } = request.params
      const scope = scopeOf(request, {})
      const record = await readRecord(app.database.db, kind, id, scope)
      // A 404 would tell visitors which ids exist.
      if (record === undefined) throw Object.keys(scope).length > 0 ? notAdmin(request) : missingRecord(kind, id)
      assertPreconditions(request.headers, true, etagOfRecord(record))
      return reply.varyOn('Cookie').header('etag', etagOfRecord(record)).send(record)
    },
  )
}
