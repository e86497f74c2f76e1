import { isDeepStrictEqual } from 'node:util'
import type { AuditLine } from '../src/records/audit.ts'
import type { Audited } from '../src/records/record-kind.ts'
import { keywordsOf } from '../src/records/validation.ts'
import { cellOf } from './record-output.ts'
import { cut, fitTable, renderTable } from './table.ts'

const headings = ['at (UTC)', 'action', 'record', 'by', 'via']
const indent = '  '
const arrow = ' → '

/**
 * Renders lines of the audit as a table. Below each row are the changed fields, or the fields of an added or removed
 * record.
 * @param width of the terminal, in characters
 */
export function renderAudit(
  kinds: readonly Audited[],
  lines: readonly AuditLine[],
  width: number,
): { heading: string; rows: string } {
  const cells = lines.map(line => [
    line.at.replace('T', ' ').slice(0, 19),
    line.action,
    cellOf(`${line.table} ${line.record_id}`),
    cellOf(line.actor),
    line.via,
  ])
  const [heading = '', ...rows] = renderTable(fitTable([headings, ...cells], width)).split(/(?<=\n)/)
  const below = lines.map(line =>
    describe(kinds, line, width - indent.length)
      .map(text => `${indent}${text}\n`)
      .join(''),
  )
  return { heading, rows: rows.map((row, index) => `${row}${below[index]}`).join('') }
}

function describe(kinds: readonly Audited[], { table, before, after }: AuditLine, width: number): string[] {
  if (before === null || after === null) {
    const fields = fieldsOf(kinds, table, { ...before, ...after }).filter(
      ([name, value]) => name !== 'id' && !isEmpty(value),
    )
    return [cut(fields.map(([name, value]) => `${cellOf(name)}: ${textOf(value)}`).join(', '), width)]
  }
  return fieldsOf(kinds, table, { ...before, ...after })
    .filter(([name]) => !isDeepStrictEqual(member(before, name), member(after, name)))
    .map(([name]) => {
      const field = `${cellOf(name)}: `
      const [old, now] = [textOf(member(before, name)), textOf(member(after, name))]
      if (!Object.hasOwn(before, name)) return cut(`${field}${now}`, width)
      // Each value gets half of the line, and what the other one leaves.
      const room = width - field.length - arrow.length
      const half = Math.max(Math.floor(room / 2), room - now.length)
      const left = cut(old, half)
      return `${field}${left}${arrow}${cut(now, room - left.length)}`
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
