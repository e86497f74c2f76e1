import { sql } from 'kysely'
import { Type } from 'typebox'
import { longestEmail } from '../sign-in/account.ts'
import { apiTokenPrefix, makeToken } from '../sign-in/random-token.ts'
import { email, exampleId, flag, id, line, time, timeOrNull } from './fields.ts'
import { users } from './kinds.ts'
import { recordKind, type RecordKind } from './record-kind.ts'

const kind = recordKind({
  name: 'token',
  plural: 'tokens',
  table: 'api_tokens',
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
  constraints: {
    api_tokens_user_id_fkey: { field: 'user_id', refersTo: users, cascades: true },
    api_tokens_user_id_name_key: { field: 'name' },
  },
  errorsOf({ name, expires_at: end }) {
    const isNumber = /^\d+$/.test(String(name))
    const isOver = typeof end === 'string' && Date.parse(end) <= Date.now()
    return [
      ...(isNumber ? [{ field: 'name', message: 'name must not be a number, which would look like an id' }] : []),
      ...(isOver ? [{ field: 'expires_at', message: 'expires_at must be in the future' }] : []),
    ]
  },
  examples: { create: { user_id: exampleId, name: 'ci' }, change: {} },
})

/** API tokens as a kind of records, which only commands and pages have: no token makes another through the API. */
export const tokens: RecordKind = {
  ...kind,
  schema: Type.Object({
    ...kind.schema.properties,
    user: email("The user's e-mail address at that time.", longestEmail),
  }),
  computed: { user: sql`(select email from users where users.id = api_tokens.user_id)` },
  change: Type.Object({}),
}

/** The kind that adds a new token by its hash, and the token, which is shown once. */
export function newToken() {
  const { text, hash } = makeToken(apiTokenPrefix)
  return { kind: { ...tokens, prepare: async (values: object) => ({ ...values, hash }) }, secret: text }
}
