import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import type {} from '../../plugins/record-kinds.ts'
import type { RecordKind } from '../../src/records/record-kind.ts'
import { removeRecord } from '../../src/records/repository.ts'
import { requireAdmin } from './admission.ts'
import { authorOf } from './author.ts'
import { emptyAnswer } from './answers.ts'
import { forgetRecords } from './forget-records.ts'
import { operation } from './operation.ts'
import { assertPreconditions, etagOfRecord } from './preconditions.ts'
import { closed, malformed, missing, needed, notAdmitted, outdated, tooManyTokens, unavailable } from './problems.ts'
import { changeHeaders, onePath, recordParams } from './record-schemas.ts'

/** DELETE one record. */
export function removeRoute(app: FastifyInstance, kind: RecordKind): void {
  app.withTypeProvider<TypeBoxTypeProvider>().delete(
    onePath,
    {
      onRequest: requireAdmin,
      schema: {
        ...operation('remove', kind, kind.name, 'For admins. What belongs to the record is removed with it.'),
        params: recordParams(kind),
        headers: changeHeaders,
        response: {
          204: emptyAnswer(`The ${kind.name} has been removed.`),
          ...malformed('The id', 'id', 'must be an id: a whole number from 1 to 9223372036854775807, as text'),
          ...notAdmitted,
          ...missing(kind),
          ...needed(kind),
          ...outdated,
          ...closed,
          ...tooManyTokens,
          ...unavailable,
        },
      },
    },
    async function remove(request, reply) {
      const { id } = request.params
      const record = await removeRecord(app.database.db, authorOf(request), app.recordKinds, kind, id, record =>
        assertPreconditions(request.headers, false, etagOfRecord(record)),
      )
      forgetRecords(app.entityCache, kind, record)
      return reply.code(204).send(null)
    },
  )
}
