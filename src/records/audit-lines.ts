import { isDeepStrictEqual } from 'node:util'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { type Audited, auditedOf } from './audited.ts'
import type { Author } from './author.ts'
import { keywordsOf } from './keywords.ts'
import type { Link, RecordKind } from './record-kind.ts'
import { columnOf, selectionOf } from './selection.ts'

// The lines of the audit are written in the transaction of the change: there is no change without its line, and no line
// without its change.

type Values = Readonly<Record<PropertyKey, unknown>>

/** What a line shows of a password or another secret that was written. */
const newSecret = '(new)'

const columns = sql`via, user_id, token_id, actor, "table", record_id, action, before, after`

/**
 * Writes the lines of added records, as the database has them.
 * @param ids a query of the ids that lines name them by
 */
export async function writeAdditions(
  db: Kysely<Tables>,
  author: Author,
  kind: Audited,
  ids: RawBuilder<unknown>,
): Promise<void> {
  await sql`
    insert into audit (${columns})
    select ${valuesOf(author, kind)}, ${idOf(kind)}, 'add', null, to_jsonb(records)
    from (${recordsOf(kind, ids)}) as records`.execute(db)
}

/**
 * Writes the line of a changed record, unless no field has changed but those that the database sets.
 * @param values the written values, which may have secrets that records do not have
 */
export async function writeChange(
  db: Kysely<Tables>,
  author: Author,
  kind: RecordKind,
  values: Values,
  before: Values,
  after: Values,
): Promise<void> {
  const fields = kind.schema.properties
  const secrets = Object.keys(values).filter(name => !(name in fields))
  const written = Object.keys(fields).filter(name => keywordsOf(fields[name]).readOnly !== true)
  if (secrets.length === 0 && written.every(name => isDeepStrictEqual(before[name], after[name]))) return
  const shown = { ...after, ...Object.fromEntries(secrets.map(name => [name, newSecret])) }
  await sql`
    insert into audit (${columns})
    select ${valuesOf(author, kind)}, ${before['id']}::bigint, 'change',
      ${JSON.stringify(before)}::jsonb, ${JSON.stringify(shown)}::jsonb`.execute(db)
}

/**
 * Writes the lines of a record that is about to be removed, of those that go with it, and of those that lose a link.
 * @param kinds all kinds of records, to find those that go with a record
 * @param id of a record that is locked
 */
export async function writeRemovals(
  db: Kysely<Tables>,
  author: Author,
  kinds: readonly RecordKind[],
  kind: Audited,
  id: string,
): Promise<void> {
  const audited = auditedOf(kinds)
  const removed = await lockRemoved(db, audited, kind, id)
  for (const [kind, removedIds] of [...removed].reverse()) {
    const ids = queryOf(removedIds)
    for (const { dependent, field, link } of dependentsOf(audited, kind)) {
      if (link === undefined) continue
      await writeLostLinks(db, author, dependent, field, link, ids, queryOf(removed.get(dependent) ?? []))
    }
    await sql`
      insert into audit (${columns})
      select ${valuesOf(author, kind)}, ${idOf(kind)}, 'remove', to_jsonb(records), null
      from (${recordsOf(kind, ids)}) as records`.execute(db)
  }
}

/**
 * Finds the ids of the records that go with a record, and its own, by their kinds. Locks them, so that nobody changes
 * them before they are removed.
 */
async function lockRemoved(db: Kysely<Tables>, kinds: readonly Audited[], kind: Audited, id: string) {
  const removed = new Map([[kind, new Set([id])]])
  const found = [{ kind, ids: [id] }]
  // Grows while it is read, until no more records are found.
  for (const { kind, ids } of found) {
    for (const { dependent, field, link } of dependentsOf(kinds, kind)) {
      if (link !== undefined) continue
      const { rows } = await sql<{ id: string }>`
        select id from ${sql.table(dependent.table)} where ${sql.ref(field)} = any(${ids}::bigint[])
        for update`.execute(db)
      const known = removed.get(dependent) ?? new Set()
      const more = rows.map(({ id }) => id).filter(id => !known.has(id))
      if (more.length === 0) continue
      removed.set(dependent, new Set([...known, ...more]))
      found.push({ kind: dependent, ids: more })
    }
  }
  return removed
}

function queryOf(ids: Iterable<string>): RawBuilder<unknown> {
  return sql`select unnest(${[...ids]}::bigint[])`
}

async function writeLostLinks(
  db: Kysely<Tables>,
  author: Author,
  kind: Audited,
  field: string,
  { table, own, other }: Link,
  lost: RawBuilder<unknown>,
  removed: RawBuilder<unknown>,
): Promise<void> {
  const ids = sql`
    select ${sql.ref(own)} from ${sql.table(table)}
    where ${sql.ref(other)} in (${lost}) and ${sql.ref(own)} not in (${removed})`
  await sql`
    insert into audit (${columns})
    select ${valuesOf(author, kind)}, records.id::bigint, 'change', to_jsonb(records),
      to_jsonb(records) || jsonb_build_object(${field}::text, array(
        select other from unnest(records.${sql.ref(field)}) as other where other::bigint not in (${lost})))
    from (${recordsOf(kind, ids)}) as records`.execute(db)
}

/** The kinds whose records, or links, the database removes together with those of a kind. */
function dependentsOf(kinds: readonly Audited[], kind: Audited) {
  return kinds.flatMap(dependent =>
    Object.values(dependent.constraints).flatMap(({ field, refersTo, cascades = false }) =>
      refersTo === kind && cascades ? [{ dependent, field, link: dependent.links[field] }] : [],
    ),
  )
}

function recordsOf(kind: Audited, ids: RawBuilder<unknown>): RawBuilder<unknown> {
  const key = columnOf(kind, keyOf(kind))
  return sql`
    select ${selectionOf(kind)} from ${sql.table(kind.table)}
    where ${key} in (${ids}) order by ${key}`
}

/** The id of one of the records that recordsOf() selects. */
function idOf(kind: Audited): RawBuilder<unknown> {
  return sql`${sql.ref(`records.${keyOf(kind)}`)}::bigint`
}

function keyOf({ key = 'id' }: Audited): string {
  return key
}

/** The columns of a line up to the table. */
function valuesOf({ via, user, tokenId, systemUser }: Author, { table }: Audited): RawBuilder<unknown> {
  return sql`
    ${via}::text, ${user?.id ?? null}::bigint, ${tokenId}::bigint, ${user?.email ?? systemUser}::text, ${table}::text`
}
