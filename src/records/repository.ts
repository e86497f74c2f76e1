import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { Position } from './cursor.ts'
import { NotFoundHttpError } from '../errors/http-errors.ts'
import { refusedRemoval, refusedWrite } from './database-refusal.ts'
import { keywordsOf } from './keywords.ts'
import type { Link, RecordKind } from './record-kind.ts'

type Values = Readonly<Record<PropertyKey, unknown>>

/** A record of any kind. */
export type AnyRecord = Values & { readonly id: string }

/** Values of a kind's filters. A record has to match all of them. */
export type Filters = Values

export interface Listing {
  filters: Filters
  /** One of the kind's sorts, with a "-" in front for descending order. */
  sort: string
  after: Position | undefined
  limit: number
}

export interface Page {
  records: AnyRecord[]
  /** The position of the next page, or null if this page is the last. */
  next: Position | null
}

/** Reads a page of records. */
export async function listRecords(
  db: Kysely<Tables>,
  kind: RecordKind,
  { filters, sort, after, limit }: Listing,
): Promise<Page> {
  const column = sort.replace('-', '')
  const direction = sort.startsWith('-') ? sql`desc` : sql`asc`
  const order = [...new Set([column, 'id'])].map(name => columnOf(kind, name))
  const conditions = conditionsOf(kind, filters)
  if (after !== undefined) {
    const place = sql.join(column === 'id' ? [after.id] : [after.value, after.id])
    conditions.push(sql`(${sql.join(order)}) ${sort.startsWith('-') ? sql`<` : sql`>`} (${place})`)
  }
  const { rows } = await sql<AnyRecord>`
    select ${selectionOf(kind)} from ${sql.table(kind.table)} where ${sql.join(conditions, sql` and `)}
    order by ${sql.join(order.map(expression => sql`${expression} ${direction}`))} limit ${limit + 1}`.execute(db)
  const records = rows.slice(0, limit)
  const last = records.at(-1)
  return {
    records,
    next: rows.length > limit && last !== undefined ? { sort, value: String(last[column]), id: last.id } : null,
  }
}

/**
 * @param filters conditions that the record also has to meet
 * @returns the record, or undefined if there is none
 */
export async function readRecord(
  db: Kysely<Tables>,
  kind: RecordKind,
  id: string,
  filters: Filters = {},
): Promise<AnyRecord | undefined> {
  const conditions = [sql`${columnOf(kind, 'id')} = ${id}`, ...conditionsOf(kind, filters)]
  const {
    rows: [record],
  } =
    await sql<AnyRecord>`select ${selectionOf(kind)} from ${sql.table(kind.table)} where ${sql.join(conditions, sql` and `)}`.execute(
      db,
    )
  return record
}

/** @throws {HttpError} if the record violates a constraint of its kind */
export async function createRecord(db: Kysely<Tables>, kind: RecordKind, values: Values): Promise<AnyRecord> {
  const { columns, links } = split(kind, await kind.prepare(values))
  return await db
    .transaction()
    .execute(async transaction => {
      const {
        rows: [row],
      } = await sql<{ id: string }>`
      insert into ${sql.table(kind.table)} (${sql.join(Object.keys(columns).map(name => sql.ref(name)))})
      values (${sql.join(Object.values(columns))}) returning id`.execute(transaction)
      return await finish(transaction, kind, kept(row).id, links)
    })
    .catch((error: unknown) => {
      throw refusedWrite(kind, error) ?? error
    })
}

export interface Change {
  before: AnyRecord
  after: AnyRecord
}

/**
 * Changes some fields of a record.
 * @param assertCurrent called with the record before the change; throws to prevent it
 * @throws {HttpError} if there is no such record, or the change is not possible
 */
export async function changeRecord(
  db: Kysely<Tables>,
  kind: RecordKind,
  id: string,
  values: Values,
  assertCurrent: (record: AnyRecord) => void,
): Promise<Change> {
  const { columns, links } = split(kind, await kind.prepare(values))
  return await db
    .transaction()
    .execute(async transaction => {
      const before = await lock(transaction, kind, id, values)
      assertCurrent(before)
      if (Object.keys(values).length === 0) return { before, after: before }
      // The row is updated even if only links change, so that its triggers announce the change.
      const assignments = Object.entries({ id, ...columns }).map(([name, value]) => sql`${sql.ref(name)} = ${value}`)
      await sql`update ${sql.table(kind.table)} set ${sql.join(assignments)} where id = ${id}`.execute(transaction)
      return { before, after: await finish(transaction, kind, id, links) }
    })
    .catch((error: unknown) => {
      throw refusedWrite(kind, error) ?? error
    })
}

/**
 * Removes a record and the records that belong to it.
 * @param assertCurrent called with the record before it is removed; throws to prevent it
 * @returns the removed record
 * @throws {HttpError} if there is no such record, or others refer to it
 */
export async function removeRecord(
  db: Kysely<Tables>,
  kind: RecordKind,
  id: string,
  assertCurrent: (record: AnyRecord) => void,
): Promise<AnyRecord> {
  return await db
    .transaction()
    .execute(async transaction => {
      const before = await lock(transaction, kind, id, null)
      assertCurrent(before)
      await sql`delete from ${sql.table(kind.table)} where id = ${id}`.execute(transaction)
      return before
    })
    .catch((error: unknown) => {
      throw refusedRemoval(kind, error) ?? error
    })
}

/** The error for a record that does not exist. */
export function missingRecord(kind: RecordKind, id: string): NotFoundHttpError {
  return new NotFoundHttpError(`There is no ${kind.name} ${id}.`)
}

/** The changes to tell the store after these records changed, in the form of the notifications (migration 0002). */
export function changesOf(kind: RecordKind, ...records: readonly AnyRecord[]): [table: string, key: string | null][] {
  return records.flatMap(record => [
    [kind.table, kind.storeKey === null ? null : String(record[kind.storeKey])],
    ...Object.values(kind.links).map(({ table }): [string, string] => [table, record.id]),
  ])
}

function columnOf({ table }: RecordKind, name: string): RawBuilder<unknown> {
  return sql.ref(`${table}.${name}`)
}

function selectionOf(kind: RecordKind): RawBuilder<unknown> {
  return sql.join(Object.keys(kind.schema.properties).map(name => sql`${selectedOf(kind, name)} as ${sql.ref(name)}`))
}

function selectedOf(kind: RecordKind, name: string): RawBuilder<unknown> {
  const link = kind.links[name]
  if (link === undefined) {
    return isTime(kind, name)
      ? sql`to_char(${columnOf(kind, name)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
      : columnOf(kind, name)
  }
  const { table, own, other, position = other } = link
  return sql`array(
    select ${sql.ref(`${table}.${other}`)}::text from ${sql.table(table)} where ${sql.ref(`${table}.${own}`)} = ${columnOf(kind, 'id')}
    order by ${sql.ref(`${table}.${position}`)})`
}

function isTime({ schema }: RecordKind, name: string): boolean {
  return keywordsOf(schema.properties[name]).format === 'date-time'
}

function conditionsOf(kind: RecordKind, filters: Filters): RawBuilder<unknown>[] {
  return [
    sql`true`,
    ...Object.entries(filters).map(([name, value]) => {
      const link = kind.filters[name]?.link
      if (kind.filters[name]?.ignoresCase === true) return sql`lower(${columnOf(kind, name)}) = lower(${value})`
      if (link === undefined) return sql`${columnOf(kind, name)} = ${value}`
      return sql`exists (select from ${sql.table(link.table)} where ${sql.ref(`${link.table}.${link.own}`)} = ${columnOf(kind, 'id')} and ${sql.ref(`${link.table}.${link.other}`)} = ${value})`
    }),
  ]
}

/**
 * Locks a record until the end of the transaction and reads it.
 * @param change the new values, or null if the record is to be removed
 */
async function lock(db: Kysely<Tables>, kind: RecordKind, id: string, change: Values | null): Promise<AnyRecord> {
  await kind.assertAllowed(db, id, change)
  // Locked by a statement of its own: one that also read the links would return them as they were before the wait.
  await sql`select from ${sql.table(kind.table)} where id = ${id} for update`.execute(db)
  const record = await readRecord(db, kind, id)
  if (record === undefined) throw missingRecord(kind, id)
  return record
}

function split(kind: RecordKind, values: Values) {
  const entries = Object.entries(values)
  return {
    columns: Object.fromEntries(entries.filter(([name]) => !(name in kind.links))),
    links: entries.flatMap(([name, ids]) => {
      const link = kind.links[name]
      return link !== undefined && Array.isArray(ids) ? [{ link, ids }] : []
    }),
  }
}

async function finish(
  db: Kysely<Tables>,
  kind: RecordKind,
  id: string,
  links: readonly { link: Link; ids: readonly unknown[] }[],
): Promise<AnyRecord> {
  for (const { link, ids } of links) {
    await sql`delete from ${sql.table(link.table)} where ${sql.ref(link.own)} = ${id}`.execute(db)
    await insertLinks(
      db,
      link,
      ids.map((other, position) => ({ own: id, other, position })),
    )
  }
  return kept(await readRecord(db, kind, id))
}

function kept<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new Error('The database did not return the written record.')
  return row
}

/** Adds links between records. */
export async function insertLinks(
  db: Kysely<Tables>,
  { table, own, other, position }: Link,
  rows: readonly { own: string; other: unknown; position: number }[],
): Promise<void> {
  const columns = [own, other, ...(position === undefined ? [] : [position])]
  const values = [
    sql`${rows.map(row => row.own)}::bigint[]`,
    sql`${rows.map(row => row.other)}::bigint[]`,
    ...(position === undefined ? [] : [sql`${rows.map(row => row.position)}::integer[]`]),
  ]
  await sql`insert into ${sql.table(table)} (${sql.join(columns.map(name => sql.ref(name)))}) select * from unnest(${sql.join(values)})`.execute(
    db,
  )
}
