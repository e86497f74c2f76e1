import { Type } from 'typebox'
import { auditedOf, auditFiltersOf, listAudit } from '../src/records/audit.ts'
import { formats } from '../src/records/validation.ts'
import type { RecordKind } from '../src/records/record-kind.ts'
import { renderAudit } from './audit-table.ts'
import { type Command, readWords, UsageError } from './command.ts'
import { readFields } from './record-fields.ts'
import { tableWidth } from './record-output.ts'
import { withDatabase } from './with-database.ts'

/** Lines per query. */
const pageSize = 500

/** @param kinds all kinds of records */
export function audit(kinds: readonly RecordKind[]): Command {
  const { record_id: record, user_id: _, table, ...others } = auditFiltersOf(kinds)
  const schema = Type.Partial(Type.Object({ ...others, table, record }))
  return {
    usage: 'audit [options]',
    summary: 'Lists who changed which records, newest first.',
    details: `--table <table>     only records of this table: ${table.enum.join(', ')}
--record <id>       only the record with this id
--user <email|id>   only changes by this user; also the operating system's user who ran a command
--via <via>         only changes over HTTP (api), or by a command (command)
--action <action>   only what was done: add, change or remove
--since <time>      a date such as 2026-01-31 (midnight UTC), or a time such as 2026-01-31T12:00:00Z
--until <time>      before this time
--limit <n>         list at most n; default: 50
--json              print each line as a line of JSON, with the whole record before and after

Changes made by psql or by another program are not in the audit.`,
    async run(words, terminal) {
      const {
        values: { json, limit, user, ...options },
      } = readWords(words, [], {
        table: { type: 'string' },
        record: { type: 'string' },
        user: { type: 'string' },
        via: { type: 'string' },
        action: { type: 'string' },
        since: { type: 'string' },
        until: { type: 'string' },
        limit: { type: 'string', default: '50' },
        json: { type: 'boolean', default: false },
      })
      if (!/^[1-9]\d{0,8}$/.test(limit)) throw new UsageError('--limit must be a whole number of at least 1.')
      const { record: recordId, ...asked } = readFields(schema, options)
      const filters = {
        ...asked,
        ...(typeof recordId === 'string' && { record_id: recordId }),
        ...(user !== undefined && (formats.id.accepts(user) ? { user_id: user } : { actor: user })),
      }
      await withDatabase(terminal, async ({ db }) => {
        let left = Number(limit)
        let last: string | undefined
        do {
          const page = await listAudit(db, filters, last, Math.min(pageSize, left))
          if (json) terminal.output.write(page.lines.map(line => `${JSON.stringify(line)}\n`).join(''))
          else {
            const { heading, rows } = renderAudit(auditedOf(kinds), page.lines, tableWidth(terminal))
            terminal.output.write(`${last === undefined ? heading : ''}${rows}`)
          }
          left -= page.lines.length
          last = page.isLast ? undefined : page.lines.at(-1)?.id
        } while (last !== undefined && left > 0)
      })
    },
  }
}
