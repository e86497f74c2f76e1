import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { apiTokens } from '../../src/records/audit.ts'
import { flag, id, line, time, timeOrNull } from '../../src/records/fields.ts'
import { recordKind, type RecordKind } from '../../src/records/record-kind.ts'
import { apiTokenPrefix, makeToken } from '../../src/sign-in/random-token.ts'
import { operationsOf } from '../api/record-routes.ts'
import listRoute from './list.ts'
import recordRoutes from './record.ts'

/** API tokens as a kind of records, which only these pages have: no token makes another through the API. */
export const tokens: RecordKind = {
  ...recordKind({
    name: 'token',
    plural: 'tokens',
    table: apiTokens.table,
    purpose: 'Scripts use the API by these, each in the name of a user.',
    fields: {
      required: { user_id: id('The user for whom the token stands.'), name: line('Which script or machine has it.') },
      optional: {
        read_only: flag('Whether the token may only read.'),
        expires_at: timeOrNull('When the token ends. Null: never.'),
      },
      generated: { last_used_at: timeOrNull('The hour of its last request.'), created_at: time('When it was made.') },
    },
    knownBy: 'name',
    sorts: ['id', 'name', 'expires_at', 'last_used_at', 'created_at'],
    constraints: { ...apiTokens.constraints, api_tokens_user_id_name_key: { field: 'name' } },
    errorsOf({ name, expires_at: end }) {
      const isNumber = /^\d+$/.test(String(name))
      const isOver = typeof end === 'string' && Date.parse(end) <= Date.now()
      return [
        ...(isNumber ? [{ field: 'name', message: 'name must not be a number, which would look like an id' }] : []),
        ...(isOver ? [{ field: 'expires_at', message: 'expires_at must be in the future' }] : []),
      ]
    },
    examples: { create: {}, change: {} },
  }),
  schema: apiTokens.schema,
  computed: apiTokens.computed ?? {},
  change: Type.Object({}),
}

/** The pages of API tokens, of which one is shown when it is made. */
export default function tokenRoutes(app: FastifyInstance): void {
  listRoute(app, tokens)
  recordRoutes(app, tokens, async (request, values) => {
    const { text, hash } = makeToken(apiTokenPrefix)
    const hashed: RecordKind = { ...tokens, prepare: async values => ({ ...values, hash }) }
    return { record: await operationsOf(app, hashed).add(request, values), secret: text }
  })
}
