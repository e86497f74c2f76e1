import { type RawBuilder, sql } from 'kysely'
import { timeText } from '../database/time-text.ts'
import type { Audited } from './audited.ts'
import { valueOf } from './keywords.ts'

/** A column of a kind's table. */
export function columnOf({ table }: Audited, name: string): RawBuilder<unknown> {
  return sql.ref(`${table}.${name}`)
}

/** Selects a kind's fields as its schema has them: ids and times as text, links as lists of ids. */
export function selectionOf(kind: Audited): RawBuilder<unknown> {
  return sql.join(Object.keys(kind.schema.properties).map(name => sql`${selectedOf(kind, name)} as ${sql.ref(name)}`))
}

/** Selects one of them. */
export function selectedOf(kind: Audited, name: string): RawBuilder<unknown> {
  const computed = kind.computed?.[name]
  if (computed !== undefined) return computed
  const link = kind.links[name]
  if (link === undefined) {
    const column = columnOf(kind, name)
    switch (valueOf(kind.schema.properties[name]).format) {
      case 'id':
        return sql`${column}::text`
      case 'date-time':
        return timeText(column)
      default:
        return column
    }
  }
  const { table, own, other, position = other } = link
  return sql`array(
    select ${sql.ref(`${table}.${other}`)}::text from ${sql.table(table)}
    where ${sql.ref(`${table}.${own}`)} = ${columnOf(kind, 'id')}
    order by ${sql.ref(`${table}.${position}`)})`
}
