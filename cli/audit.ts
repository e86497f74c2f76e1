import { isDeepStrictEqual } from 'node:util'
import { Type } from 'typebox'
import { auditedOf, auditFiltersOf, type AuditLine, listAudit } from '../src/records/audit.ts'
import type { Audited, RecordKind } from '../src/records/record-kind.ts'
import { formats, keywordsOf } from '../src/records/validation.ts'
import { command, flag, text } from './command.ts'
import { readFields, readLimit } from './record-options.ts'
import { type Command, cellOf, cut, listWriter } from './terminal.ts'
import { withDatabase } from './with-database.ts'

/** Lines per query. */
const pageSize = 500

/** @param kinds all kinds of records */
export function audit(kinds: readonly RecordKind[]): Command {
  const { record_id: record, user_id: _, table, ...others } = auditFiltersOf(kinds)
  const schema = Type.Partial(Type.Object({ ...others, table, record }))
  return command({
    usage: 'audit [options]',
    summary: 'Lists who changed which records, newest first.',
    options: {
      table: text('<table>', `only records of this table: ${table.enum.join(', ')}`),
      record: text('<id>', 'only the record with this id'),
      user: text('<email|id>', "only changes by this user; also the operating system's user who ran a command"),
      via: text('<via>', 'only changes over HTTP (api), or by a command (command)'),
      action: text('<action>', 'only what was done: add, change or remove'),
      since: text('<time>', 'a date such as 2026-01-31 (midnight UTC), or a time such as 2026-01-31T12:00:00Z'),
      until: text('<time>', 'before this time'),
      limit: { ...text('<n>', 'list at most n; default: 50'), default: '50' },
      json: flag('print each line as a line of JSON, with the whole record before and after'),
    },
    notes: 'Changes made by psql or by another program are not in the audit.',
    async run(terminal, { json, limit, user, ...options }) {
      let left = readLimit(limit)
      const { record: recordId, ...asked } = readFields(schema, options)
      const filters = {
        ...asked,
        ...(typeof recordId === 'string' && { record_id: recordId }),
        ...(user !== undefined && (formats.id.accepts(user) ? { user_id: user } : { actor: user })),
      }
      const audited = auditedOf(kinds)
      const write = listWriter(terminal, json, ['at (UTC)', 'action', 'record', 'by', 'via'])
      await withDatabase(terminal, async ({ db }) => {
        let last: string | undefined
        do {
          const { lines, isLast } = await listAudit(db, filters, last, Math.min(pageSize, left))
          write(lines, cellsOf, (line, width) => fieldLines(audited, line, width))
          left -= lines.length
          last = isLast ? undefined : lines.at(-1)?.id
        } while (last !== undefined && left > 0)
      })
    },
  })
}

function cellsOf({ at, action, table, record_id: id, actor, via }: AuditLine) {
  return [at.replace('T', ' ').slice(0, 19), action, `${table} ${id}`, actor, via]
}

const indent = '  '
const arrow = ' → '

/** The changed fields, one a line, or the fields of an added or removed record. */
function fieldLines(kinds: readonly Audited[], { table, before, after }: AuditLine, width: number): string[] {
  const room = width - indent.length
  const fields = fieldsOf(kinds, table, { ...before, ...after })
  if (before === null || after === null) {
    const filled = fields.filter(([name, value]) => name !== 'id' && !isEmpty(value))
    return [indent + cut(filled.map(([name, value]) => `${cellOf(name)}: ${textOf(value)}`).join(', '), room)]
  }
  return fields
    .filter(([name]) => !isDeepStrictEqual(member(before, name), member(after, name)))
    .map(([name]) => {
      const field = `${cellOf(name)}: `
      const [old, now] = [textOf(member(before, name)), textOf(member(after, name))]
      if (!Object.hasOwn(before, name)) return indent + cut(`${field}${now}`, room)
      // Each value gets half of the line, and what the other one leaves.
      const both = room - field.length - arrow.length
      const left = cut(old, Math.max(Math.floor(both / 2), both - now.length))
      return `${indent}${field}${left}${arrow}${cut(now, both - left.length)}`
    })
}

/** The fields of a record in the order of its kind, but those that the database sets. */
function fieldsOf(kinds: readonly Audited[], table: string, record: object): [name: string, value: unknown][] {
  const properties = kinds.find(kind => kind.table === table)?.schema.properties ?? {}
  const names = new Set([...Object.keys(properties), ...Object.keys(record)])
  return [...names]
    .filter(name => Object.hasOwn(record, name) && keywordsOf(properties[name]).readOnly !== true)
    .map(name => [name, member(record, name)])
}

function member(record: object, name: string): unknown {
  return Object.entries(record).find(([key]) => key === name)?.[1]
}

function textOf(value: unknown): string {
  if (isEmpty(value)) return 'none'
  return cellOf(typeof value === 'object' && !Array.isArray(value) ? JSON.stringify(value) : value)
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0)
}
