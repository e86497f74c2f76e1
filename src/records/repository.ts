import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { NotFoundHttpError } from '../errors/http-errors.ts'
import { type Author, writeAdditions, writeChange, writeRemovals } from './audit.ts'
import { refusedList, refusedRemoval, refusedWrite } from './refusals.ts'
import { columnOf, type Position, selectedOf, selectionOf, sortKey } from './selection.ts'
import {
  type ChangeOf,
  type FiltersOf,
  type Link,
  type NewRecordOf,
  ordersOf,
  type RecordKind,
  type RecordOf,
} from './record-kind.ts'
import { assertValid, formats, invalid, isNullable, valueOf } from './validation.ts'

type Values = Readonly<Record<PropertyKey, unknown>>

/** A record of any kind. */
export type AnyRecord = Values & { readonly id: string }

/** Values of a kind's filters. A record has to match all of them. */
export type Filters = Values

export interface Listing<Kind extends RecordKind = RecordKind> {
  filters?: FiltersOf<Kind>
  /** Values that a record has to match, too, and that the client has not asked for. */
  scope?: Filters
  /** One of the kind's sorts, with a "-" in front for descending order. Default: the kind's usual sort. */
  sort?: Kind['sorts'][number] | `-${Kind['sorts'][number]}` | 'id' | '-id'
  after?: Position | undefined
  /** Default: 50. */
  limit?: number
}

export interface Page<Item extends AnyRecord = AnyRecord> {
  records: Item[]
  /** The position of the next page, or null if this page is the last. */
  next: Position | null
}

/**
 * Reads a page of records.
 * @throws {HttpError} if a filter or the sort is invalid, the position is of another list, or a range ends too early
 */
export async function listRecords<Kind extends RecordKind>(
  db: Kysely<Tables>,
  kind: Kind,
  listing?: Listing<Kind>,
): Promise<Page<RecordOf<Kind>>>
export async function listRecords(db: Kysely<Tables>, kind: RecordKind, listing: Listing = {}): Promise<Page> {
  const { filters = {}, scope, sort = kind.usualSort, after, limit = 50 } = listing
  assertValid(kind.query, filters)
  const orders = ordersOf(kind)
  if (!orders.includes(sort)) throw invalid([{ field: 'sort', message: `sort must be one of ${orders.join(', ')}` }])
  assertRanges(kind, filters)
  const column = sort.replace('-', '')
  const direction = sort.startsWith('-') ? sql`desc` : sql`asc`
  const order = [...new Set([column, 'id'])].map(name => sortedBy(kind, name, columnOf(kind, name)))
  const conditions = conditionsOf(kind, { ...filters, ...scope })
  if (after !== undefined) conditions.push(isAfter(kind, column, sort.startsWith('-'), after))
  // As text, because a time of JavaScript has no microseconds.
  const { rows } = await sql<AnyRecord & { [sortValue]: string | null }>`
    select ${selectionOf(kind)}, ${columnOf(kind, column)}::text as ${sql.ref(sortValue)} from ${sql.table(kind.table)} where ${sql.join(conditions, sql` and `)}
    order by ${sql.join(order.map(expression => sql`${expression} ${direction}`))} limit ${limit + 1}`
    .execute(db)
    .catch((error: unknown) => {
      throw refusedList(Object.keys(filters), after !== undefined, error) ?? error
    })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    records: page.map(({ [sortValue]: _, ...record }) => record),
    next: rows.length > limit && last !== undefined ? { sort, value: last[sortValue], id: last.id } : null,
  }
}

/** No field has a name with a space. */
const sortValue = 'sort value'

/** What lists are sorted by in place of a column's value. */
function sortedBy(kind: RecordKind, name: string, value: RawBuilder<unknown>): RawBuilder<unknown> {
  return valueOf(kind.schema.properties[name]).format === 'line' ? sortKey(value) : value
}

/** Whether a record comes after a position. Null is the greatest value, as PostgreSQL sorts it. */
function isAfter(kind: RecordKind, name: string, isDescending: boolean, { value, id }: Position): RawBuilder<unknown> {
  const column = columnOf(kind, name)
  const ownId = columnOf(kind, 'id')
  const beyond = isDescending ? sql`<` : sql`>`
  if (name === 'id') return sql`${ownId} ${beyond} ${id}`
  if (value === null) {
    const isLater = sql`${column} is null and ${ownId} ${beyond} ${id}`
    return isDescending ? sql`(${isLater} or ${column} is not null)` : isLater
  }
  const [own, other] = [column, sql`${value}`].map(value => sortedBy(kind, name, value))
  const isLater = sql`(${own}, ${ownId}) ${beyond} (${other}, ${id})`
  return isNullable(kind.schema.properties[name]) && !isDescending ? sql`(${isLater} or ${column} is null)` : isLater
}

/** @throws {BadRequestHttpError} if a range ends before it begins */
function assertRanges(kind: RecordKind, filters: Filters): void {
  const errors = Object.keys(filters).flatMap(name => {
    const { of, bound } = kind.filters[name]?.range ?? {}
    const [from, until] = [filters[`${of}_from`], filters[name]].map(value => comparable(value))
    if (bound !== 'until' || from === undefined || until === undefined || until >= from) return []
    return [{ field: name, message: `${name} must not be before ${of}_from` }]
  })
  if (errors.length > 0) throw invalid(errors)
}

/** The bound of a range as a number. */
function comparable(bound: unknown): number | undefined {
  return typeof bound === 'string' ? Date.parse(bound) : typeof bound === 'number' ? bound : undefined
}

/** Counts the records that match all filters. */
export async function countRecords(db: Kysely<Tables>, kind: RecordKind, filters: Filters): Promise<number> {
  const { rows } = await sql<{ total: string }>`
    select count(*) as total from ${sql.table(kind.table)}
    where ${sql.join(conditionsOf(kind, filters), sql` and `)}`.execute(db)
  return Number(kept(rows[0]).total)
}

/**
 * @param filters conditions that the record also has to meet
 * @returns the record, or undefined if there is none
 */
export async function readRecord<Kind extends RecordKind>(
  db: Kysely<Tables>,
  kind: Kind,
  id: string,
  filters: Filters = {},
): Promise<RecordOf<Kind> | undefined> {
  assertId(id)
  const conditions = [sql`${columnOf(kind, 'id')} = ${id}`, ...conditionsOf(kind, filters)]
  const { rows } = await sql<RecordOf<Kind>>`
    select ${selectionOf(kind)} from ${sql.table(kind.table)}
    where ${sql.join(conditions, sql` and `)}`.execute(db)
  return rows[0]
}

/**
 * Adds a record, with its line in the audit.
 * @throws {HttpError} with the API's sentences, if a value is invalid or violates a constraint of its kind
 */
export async function createRecord<Kind extends RecordKind>(
  db: Kysely<Tables>,
  author: Author,
  kind: Kind,
  values: NewRecordOf<Kind>,
): Promise<RecordOf<Kind>> {
  assertValid(kind.create, values)
  const given = definedIn(values)
  assertConsistent(kind, given)
  const { columns, links } = split(kind, await kind.prepare(given))
  return await inTransaction(db, async transaction => {
    const { rows } = await sql<{ id: string }>`
      insert into ${sql.table(kind.table)} ${rowOf(columns)} returning id`.execute(transaction)
    const record = await finish(transaction, kind, kept(rows[0]).id, links)
    await writeAdditions(transaction, author, kind, sql`select ${record.id}::bigint`)
    return record
  }).catch((error: unknown) => {
    throw refusedWrite(kind, Object.keys(values), error) ?? error
  })
}

function rowOf(columns: Values): RawBuilder<unknown> {
  const names = Object.keys(columns)
  if (names.length === 0) return sql`default values`
  return sql`(${sql.join(names.map(name => sql.ref(name)))}) values (${sql.join(Object.values(columns))})`
}

export interface Change<Item extends AnyRecord = AnyRecord> {
  before: Item
  after: Item
}

/**
 * Changes some fields of a record, with a line in the audit.
 * @param assertCurrent called with the record before the change; throws to prevent it
 * @throws {HttpError} with the API's sentences, if a value is invalid, there is no such record, or it cannot be changed
 */
export async function changeRecord<Kind extends RecordKind>(
  db: Kysely<Tables>,
  author: Author,
  kind: Kind,
  id: string,
  values: ChangeOf<Kind>,
  assertCurrent: (record: RecordOf<Kind>) => void = () => {},
): Promise<Change<RecordOf<Kind>>> {
  assertValid(kind.change, values)
  const given = definedIn(values)
  // Before the transaction, because hashing a password takes long.
  const prepared = await kind.prepare(given)
  return await inTransaction(db, transaction =>
    changeRecordWithin(transaction, author, kind, id, given, prepared, assertCurrent),
  ).catch((error: unknown) => {
    throw refusedWrite(kind, Object.keys(values), error) ?? error
  })
}

/**
 * Like changeRecord, within a transaction of the caller.
 * @param prepared the values as kind.prepare() returns them
 */
export async function changeRecordWithin<Kind extends RecordKind>(
  transaction: Kysely<Tables>,
  author: Author,
  kind: Kind,
  id: string,
  values: Values,
  prepared: Values,
  assertCurrent: (record: RecordOf<Kind>) => void = () => {},
): Promise<Change<RecordOf<Kind>>> {
  const { columns, links } = split(kind, prepared)
  const before = await lock(transaction, kind, id, values)
  assertCurrent(before)
  assertConsistent(kind, { ...before, ...values })
  if (Object.keys(values).length === 0) return { before, after: before }
  // The row is updated even if only links change, so that its triggers announce the change.
  const assignments = Object.entries({ id, ...columns }).map(([name, value]) => sql`${sql.ref(name)} = ${value}`)
  await sql`update ${sql.table(kind.table)} set ${sql.join(assignments)} where id = ${id}`.execute(transaction)
  const after = await finish(transaction, kind, id, links)
  await writeChange(transaction, author, kind, values, before, after)
  return { before, after }
}

/**
 * Removes a record and the records that belong to it, with their lines in the audit.
 * @param assertCurrent called with the record before it is removed; throws to prevent it
 * @returns the removed record
 * @throws {HttpError} if there is no such record, or others refer to it
 */
export async function removeRecord<Kind extends RecordKind>(
  db: Kysely<Tables>,
  author: Author,
  kinds: readonly RecordKind[],
  kind: Kind,
  id: string,
  assertCurrent: (record: RecordOf<Kind>) => void = () => {},
): Promise<RecordOf<Kind>> {
  return await inTransaction(db, async transaction => {
    const before = await lock(transaction, kind, id, null)
    assertCurrent(before)
    await writeRemovals(transaction, author, kinds, kind, id)
    await sql`delete from ${sql.table(kind.table)} where id = ${id}`.execute(transaction)
    return before
  }).catch((error: unknown) => {
    throw refusedRemoval(kind, error) ?? error
  })
}

/** Acts in the transaction of the caller, if there is one. */
async function inTransaction<Result>(
  db: Kysely<Tables>,
  act: (transaction: Kysely<Tables>) => Promise<Result>,
): Promise<Result> {
  return await (db.isTransaction ? act(db) : db.transaction().execute(act))
}

/** The error for a record that does not exist. */
export function missingRecord(kind: RecordKind, id: string): NotFoundHttpError {
  return new NotFoundHttpError(`There is no ${kind.name} ${id}.`)
}

/** @throws {BadRequestHttpError} if the database would refuse the id */
function assertId(id: string): void {
  if (!formats.id.accepts(id)) throw invalid([{ field: 'id', message: `id must be ${formats.id.expects}` }])
}

function assertConsistent(kind: RecordKind, record: Values): void {
  const errors = kind.errorsOf(record)
  if (errors.length > 0) throw invalid(errors)
}

/** @throws {BadRequestHttpError} if a filter is undefined, which could mean all records or none */
function conditionsOf(kind: RecordKind, filters: Filters): RawBuilder<unknown>[] {
  const missing = Object.keys(filters).filter(name => filters[name] === undefined)
  if (missing.length > 0) throw invalid(missing.map(field => ({ field, message: `${field} must not be undefined` })))
  return [
    sql`true`,
    ...Object.entries(filters).map(([name, value]) =>
      value === null ? sql`${columnOf(kind, name)} is null` : conditionOf(kind, name, value),
    ),
  ]
}

function conditionOf(kind: RecordKind, name: string, value: unknown): RawBuilder<unknown> {
  const filter = kind.filters[name]
  const link = filter?.link
  if (filter?.prefixOf !== undefined) return beginsWith(columnOf(kind, filter.prefixOf), String(value))
  if (filter?.range !== undefined) {
    // JavaScript takes a day for its midnight in UTC, whatever the session's time zone is.
    const bound = typeof value === 'string' ? new Date(value).toISOString() : value
    return sql`${columnOf(kind, filter.range.of)} ${filter.range.bound === 'from' ? sql`>=` : sql`<`} ${bound}`
  }
  if (filter?.ignoresCase === true) return sql`lower(${columnOf(kind, name)}) = lower(${value})`
  if (valueOf(kind.schema.properties[name]).format === 'date-time') {
    return sql`${selectedOf(kind, name)} = ${new Date(String(value)).toISOString()}`
  }
  if (link === undefined) return sql`${columnOf(kind, name)} = ${value}`
  return sql`exists (select from ${sql.table(link.table)}
    where ${sql.ref(`${link.table}.${link.own}`)} = ${columnOf(kind, 'id')}
    and ${sql.ref(`${link.table}.${link.other}`)} = ${value})`
}

/** Written so that the indexes of migration 0010 serve it. Wildcards in the prefix stand for themselves. */
function beginsWith(column: RawBuilder<unknown>, prefix: string): RawBuilder<unknown> {
  return sql`lower(${column}) like lower(${prefix.replace(/[\\%_]/g, '\\$&')}) || '%'`
}

/**
 * Locks a record until the end of the transaction and reads it.
 * @param change the new values, or null if the record is to be removed
 */
async function lock<Kind extends RecordKind>(
  db: Kysely<Tables>,
  kind: Kind,
  id: string,
  change: Values | null,
): Promise<RecordOf<Kind>> {
  assertId(id)
  await kind.assertAllowed(db, id, change)
  // Locked by a statement of its own: one that also read the links would return them as they were before the wait.
  await sql`select from ${sql.table(kind.table)} where id = ${id} for update`.execute(db)
  const record = await readRecord(db, kind, id)
  if (record === undefined) throw missingRecord(kind, id)
  return record
}

/** Leaves out what is undefined, as JSON does. */
function definedIn(values: Values): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
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

async function finish<Kind extends RecordKind>(
  db: Kysely<Tables>,
  kind: Kind,
  id: string,
  links: readonly { link: Link; ids: readonly unknown[] }[],
): Promise<RecordOf<Kind>> {
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
  await sql`
    insert into ${sql.table(table)} (${sql.join(columns.map(name => sql.ref(name)))})
    select * from unnest(${sql.join(values)})`.execute(db)
}
