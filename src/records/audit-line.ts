import { type Static, Type } from 'typebox'
import { auditedOf } from './audited.ts'
import { id, moment, orNull, time } from './fields.ts'
import type { RecordKind } from './record-kind.ts'

const recordId = id('The id of the record. For a link to choose a password, the id of its user.')
const userId = id('The id of the user who made the change over HTTP.')
const tableDescription = 'The table of the record. An API token and a link to choose a password count as records, too.'
const via = Type.Enum(['api', 'command'], {
  type: 'string',
  description: 'Whether the change was made over HTTP, in the API or on a page, or by a command.',
})
const action = Type.Enum(['add', 'change', 'remove'], { type: 'string', description: 'What was done to the record.' })
const image = Type.Object({}, { additionalProperties: true })

/** A line of the audit, as it is read. */
export const auditLine = Type.Object(
  {
    id: id('The id of the line. The newest line has the highest.'),
    at: time('When the change was made.'),
    user_id: orNull({ ...userId, description: 'The user who was signed in. Null for a command.' }),
    token_id: orNull(id('The API token that stood for the user, if one did.')),
    actor: orNull(
      Type.String({
        description:
          "The user's e-mail address at that time. For a command, the name of the operating system's user, if known.",
      }),
    ),
    via,
    table: Type.String({ description: tableDescription }),
    record_id: recordId,
    action,
    before: orNull({ ...image, description: 'The record before the change. Null if it was added.' }),
    after: orNull({
      ...image,
      description: 'The record after the change. Null if it was removed. A new password is only mentioned.',
    }),
  },
  { additionalProperties: false, description: 'A change to a record, and who made it.' },
)

export type AuditLine = Static<typeof auditLine>

/** The filters of the audit, if these are all kinds of records. A line has to match all of them. */
export function auditFiltersOf(kinds: readonly RecordKind[]) {
  const tables = auditedOf(kinds).map(({ table }) => table)
  return {
    table: Type.Enum(tables, { type: 'string', description: tableDescription }),
    record_id: recordId,
    user_id: userId,
    via,
    action,
    since: moment('Only lines since this time: a date (midnight UTC), or a time such as 2026-01-31T12:00:00Z.'),
    until: moment('Only lines before this time.'),
  }
}
