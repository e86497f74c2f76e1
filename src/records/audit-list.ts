import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { timeText } from '../database/time-text.ts'
import { type AuditLine, auditLine } from './audit-line.ts'
import { valueOf } from './keywords.ts'

export interface AuditFilters {
  table?: string
  record_id?: string
  user_id?: string
  via?: string
  action?: string
  /** The time of the oldest line, as the format "moment" has it. */
  since?: string
  /** The time after the newest line. */
  until?: string
  /** An e-mail address that the user has or had, or the operating system's name of who ran a command. */
  actor?: string
}

const selection = sql.join(
  Object.entries(auditLine.properties).map(([name, schema]) => {
    const column = sql.ref(`audit.${name}`)
    return valueOf(schema).format === 'date-time' ? sql`${timeText(column)} as ${sql.ref(name)}` : column
  }),
)

/**
 * Reads lines of the audit, newest first.
 * @param before the id of the last line of the previous page, if there is one
 */
export async function listAudit(
  db: Kysely<Tables>,
  filters: AuditFilters,
  before: string | undefined,
  limit: number,
): Promise<{ lines: AuditLine[]; isLast: boolean }> {
  const conditions = conditionsOf(filters)
  if (before !== undefined) conditions.push(sql`audit.id < ${before}`)
  const { rows } = await sql<AuditLine>`
    select ${selection} from audit where ${sql.join(conditions, sql` and `)}
    order by audit.id desc limit ${limit + 1}`.execute(db)
  return { lines: rows.slice(0, limit), isLast: rows.length <= limit }
}

function conditionsOf({ since, until, actor, ...equal }: AuditFilters): RawBuilder<unknown>[] {
  const conditions = [
    sql`true`,
    ...Object.entries(equal).map(([name, value]) => sql`${sql.ref(`audit.${name}`)} = ${value}`),
  ]
  if (since !== undefined) conditions.push(sql`at >= ${timestampOf(since)}`)
  if (until !== undefined) conditions.push(sql`at < ${timestampOf(until)}`)
  if (actor !== undefined) {
    conditions.push(sql`(
      lower(actor) = lower(${actor}) or user_id = (select id from users where lower(email) = lower(${actor})))`)
  }
  return conditions
}

/** Seconds since 1970, because offsets and years that JavaScript knows may be out of PostgreSQL's range as text. */
function timestampOf(moment: string): RawBuilder<unknown> {
  return sql`to_timestamp(${Date.parse(moment) / 1000}::double precision)`
}
