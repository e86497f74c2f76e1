import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import type { RecordKind } from '../../src/records/record-kind.ts'
import { changeRecord } from '../../src/records/repository.ts'
import { requireAdmin } from './admission.ts'
import { authorOf } from './author.ts'
import { recordAnswer } from './answers.ts'
import { forgetRecords } from './forget-records.ts'
import { operation } from './operation.ts'
import { assertPreconditions, etagOfRecord } from './preconditions.ts'
import {
  closed,
  dangling,
  malformed,
  missing,
  notAdmitted,
  outdated,
  taken,
  tooManyTokens,
  unavailable,
  unreadable,
} from './problems.ts'
import { bodyLimit, changeHeaders, changeSchema, onePath, recordParams } from './record-schemas.ts'

/** PATCH the fields of one record. */
export function changeRoute(app: FastifyInstance, kind: RecordKind): void {
  app.withTypeProvider<TypeBoxTypeProvider>().patch(
    onePath,
    {
      onRequest: requireAdmin,
      bodyLimit,
      schema: {
        ...operation(
          'change',
          kind,
          kind.name,
          'For admins. Fields that are not sent stay as they are. Takes effect on the next request.',
        ),
        consumes: ['application/json', 'application/merge-patch+json'],
        params: recordParams(kind),
        headers: changeHeaders,
        body: changeSchema(kind),
        response: {
          200: recordAnswer(kind, kind.examples.change),
          ...malformed('The id or a field', kind.knownBy, 'must not be empty'),
          ...notAdmitted,
          ...missing(kind),
          ...taken(kind),
          ...outdated,
          ...unreadable,
          ...dangling(kind),
          ...closed,
          ...tooManyTokens,
          ...unavailable,
        },
      },
    },
    async function change(request, reply) {
      const { before, after } = await changeRecord(
        app.database.db,
        authorOf(request),
        kind,
        request.params.id,
        request.body,
        record => assertPreconditions(request.headers, false, etagOfRecord(record)),
      )
      forgetRecords(app.entityCache, kind, before, after)
      return reply.header('etag', etagOfRecord(after)).send(after)
    },
  )
}
