import { type RawBuilder, sql } from 'kysely'
import { Type } from 'typebox'
import { longestEmail } from '../sign-in/account.ts'
import { email, flag, id, line, time, timeOrNull } from './fields.ts'
import type { RecordKind } from './record-kind.ts'
import { users } from './user.ts'

/** What leaves lines in the audit: records of a kind, or the rows of another table. */
export interface Audited extends Pick<RecordKind, 'table' | 'schema' | 'links' | 'constraints'> {
  /** The column with the id that lines name. Default: id. */
  readonly key?: string
  /** The fields that are not columns of the table. */
  readonly computed?: Readonly<Record<string, RawBuilder<unknown>>>
}

const user = email("The user's e-mail address at that time.", longestEmail)

export const apiTokens: Audited = {
  table: 'api_tokens',
  schema: Type.Object({
    id: id('The id of this token.'),
    name: line('The name of the token.'),
    user,
    user_id: id('The id of the user for whom the token stands.'),
    read_only: flag('Whether the token may only read.'),
    expires_at: timeOrNull('When the token ends. Null if never.'),
    last_used_at: timeOrNull('The hour of its last request. Null if there was none.'),
    created_at: time('When the token was added.'),
  }),
  links: {},
  computed: { user: ownerOf('api_tokens') },
  constraints: { api_tokens_user_id_fkey: { field: 'user_id', refersTo: users, cascades: true } },
}

/** Links by which users choose a new password. A line of one that is removed says that it was used. */
export const passwordResets: Audited = {
  table: 'password_resets',
  key: 'user_id',
  schema: Type.Object({
    user,
    user_id: id('The id of the user whose password the link changes.'),
    expires_at: timeOrNull('When the link ends.'),
  }),
  links: {},
  computed: { user: ownerOf('password_resets') },
  constraints: {},
}

function ownerOf(table: string): RawBuilder<unknown> {
  return sql`(select email from users where users.id = ${sql.ref(`${table}.user_id`)})`
}

/** Everything that leaves lines in the audit, if these are all kinds of records. */
export function auditedOf(kinds: readonly RecordKind[]): readonly Audited[] {
  return [...kinds, apiTokens, passwordResets]
}
