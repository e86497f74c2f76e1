import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import type { RecordKind } from '../../src/records/record-kind.ts'
import { createRecord } from '../../src/records/repository.ts'
import { requireAdmin } from './admission.ts'
import { authorOf } from './author.ts'
import { addedAnswer } from './answers.ts'
import { forgetRecords } from './forget-records.ts'
import { operation } from './operation.ts'
import { etagOfRecord } from './preconditions.ts'
import { closed, dangling, malformed, notAdmitted, taken, tooManyTokens, unavailable, unreadable } from './problems.ts'
import { bodyLimit, inputSchema } from './record-schemas.ts'

/** POST a new record. */
export function addRoute(app: FastifyInstance, kind: RecordKind): void {
  app.withTypeProvider<TypeBoxTypeProvider>().post(
    '/',
    {
      prefixTrailingSlash: 'no-slash',
      onRequest: requireAdmin,
      bodyLimit,
      schema: {
        ...operation('add', kind, kind.name, 'For admins. Takes effect on the next request.'),
        body: inputSchema(kind),
        response: {
          201: addedAnswer(kind),
          ...malformed('The record', kind.knownBy, 'is missing'),
          ...notAdmitted,
          ...taken(kind),
          ...unreadable,
          ...dangling(kind),
          ...closed,
          ...tooManyTokens,
          ...unavailable,
        },
      },
    },
    async function create(request, reply) {
      const record = await createRecord(app.database.db, authorOf(request), kind, request.body)
      forgetRecords(app.entityCache, kind, record)
      return reply
        .code(201)
        .header('location', `${app.prefix}/${record.id}`)
        .header('etag', etagOfRecord(record))
        .send(record)
    },
  )
}
