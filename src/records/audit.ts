import { isDeepStrictEqual } from 'node:util'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { Type } from 'typebox'
import type { Tables } from '../database/tables.ts'
import { choice, email, exampleId, id, orNull, time, timeOrNull } from './fields.ts'
import { keywordsOf } from './validation.ts'
import { type Audited, type Link, recordKind, type RecordKind } from './record-kind.ts'
import { columnOf, selectionOf } from './selection.ts'
import { tokens } from './tokens.ts'
import { longestEmail } from '../sign-in/account.ts'

/** Who makes a change, as the audit keeps it. */
export interface Author {
  readonly via: 'api' | 'command'
  /** The user who is signed in. Null for a command. */
  readonly user: { readonly id: string; readonly email: string } | null
  /** The id of the API token that stands for the user, or null. */
  readonly tokenId: string | null
  /** The operating system's name of who runs the command, if it is known. Null for the API. */
  readonly systemUser: string | null
}

const image = Type.Object({}, { additionalProperties: true })

/** The lines of the audit as a kind of records, which nobody adds. For lists that people ask for, auditOf() has it. */
export const auditLines = recordKind({
  name: 'audit line',
  plural: 'audit',
  table: 'audit',
  purpose: 'Who changed what.',
  fields: {
    required: {},
    generated: {
      at: time('When the change was made.'),
      user_id: orNull(id('The user who was signed in. Null for a command.')),
      token_id: orNull(id('The API token that stood for the user, if one did.')),
      actor: orNull(
        Type.String({
          description:
            "The user's e-mail address at that time. For a command, the name of the operating system's user, if known.",
        }),
      ),
      via: choice('Whether the change was made over HTTP, in the API or on a page, or by a command.', [
        'api',
        'command',
      ]),
      table: Type.String({
        description: 'The table of the record. An API token and a link to choose a password count as records, too.',
      }),
      record_id: id('The id of the record. For a link to choose a password, the id of its user.'),
      action: choice('What was done to the record.', ['add', 'change', 'remove']),
      before: orNull({ ...image, description: 'The record before the change. Null if it was added.' }),
      after: orNull({
        ...image,
        description: 'The record after the change. Null if it was removed. A new password is only mentioned.',
      }),
    },
  },
  filters: {
    actor: { schema: Type.String({ description: 'Who made the change, in upper or lower case.' }), ignoresCase: true },
  },
  knownBy: 'at',
  sorts: ['id'],
  usualSort: '-id',
  examples: {
    create: { actor: 'admin@museum.example', via: 'api', table: 'platforms', record_id: exampleId, action: 'add' },
    change: {},
  },
})

/** Links by which users choose a new password. A line of one that is removed says that it was used. */
export const passwordResets: Audited = {
  table: 'password_resets',
  key: 'user_id',
  schema: Type.Object({
    user: email("The user's e-mail address at that time.", longestEmail),
    user_id: id('The id of the user whose password the link changes.'),
    expires_at: timeOrNull('When the link ends.'),
  }),
  links: {},
  computed: { user: sql`(select email from users where users.id = password_resets.user_id)` },
  constraints: {},
}

/** Everything that leaves lines in the audit, if these are all kinds of records. */
export function auditedOf(kinds: readonly RecordKind[]): readonly Audited[] {
  return [...kinds, tokens, passwordResets]
}

/** The lines of the audit, if these are all kinds of records. Lists refuse the names of other tables. */
export function auditOf(kinds: readonly RecordKind[]): RecordKind {
  const { filters, query } = auditLines
  const tables = auditedOf(kinds).map(({ table }) => table)
  const table = choice(String(keywordsOf(query.properties.table).description), tables)
  return {
    ...auditLines,
    filters: { ...filters, table: { schema: table } },
    query: Type.Object({ ...query.properties, table: Type.Optional(table) }, { additionalProperties: false }),
  }
}

// The lines of the audit are written in the transaction of the change: there is no change without its line, and no line
// without its change.

type Values = Readonly<Record<PropertyKey, unknown>>

const newSecret = '(new)'

const columns = sql`via, user_id, token_id, actor, "table", record_id, action, before, after`

/** Writes the lines of added records, which `ids` selects, as the database has them. */
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
  // Locked, so that nobody changes them before they are removed.
  const removed = await findRemoved(db, audited, kind, id, sql`for update`)
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

/** Counts the records that would go with a record, and those that would lose a link. */
export async function consequencesOf(db: Kysely<Tables>, kinds: readonly RecordKind[], kind: Audited, id: string) {
  const audited = auditedOf(kinds)
  const removed = await findRemoved(db, audited, kind, id)
  const consequences: { kind: Audited; fate: 'removed' | 'unlinked'; count: number }[] = []
  for (const [gone, ids] of removed) {
    consequences.push({ kind: gone, fate: 'removed', count: gone === kind ? ids.size - 1 : ids.size })
    for (const { dependent, link } of dependentsOf(audited, gone)) {
      if (link === undefined) continue
      const losers = losersOf(link, queryOf(ids), queryOf(removed.get(dependent) ?? []))
      const { rows } = await sql`${losers} group by 1`.execute(db)
      consequences.push({ kind: dependent, fate: 'unlinked', count: rows.length })
    }
  }
  return consequences.filter(({ count }) => count > 0)
}

/** Finds the ids of the records that go with a record, and its own, by their kinds. */
async function findRemoved(db: Kysely<Tables>, kinds: readonly Audited[], kind: Audited, id: string, lock = sql``) {
  const removed = new Map([[kind, new Set([id])]])
  const found = [{ kind, ids: [id] }]
  // Grows while it is read, until no more records are found.
  for (const { kind, ids } of found) {
    for (const { dependent, field, link } of dependentsOf(kinds, kind)) {
      if (link !== undefined) continue
      const { rows } = await sql<{ id: string }>`
        select id from ${sql.table(dependent.table)} where ${sql.ref(field)} = any(${ids}::bigint[])
        ${lock}`.execute(db)
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
  link: Link,
  lost: RawBuilder<unknown>,
  removed: RawBuilder<unknown>,
): Promise<void> {
  await sql`
    insert into audit (${columns})
    select ${valuesOf(author, kind)}, records.id::bigint, 'change', to_jsonb(records),
      to_jsonb(records) || jsonb_build_object(${field}::text, array(
        select other from unnest(records.${sql.ref(field)}) as other where other::bigint not in (${lost})))
    from (${recordsOf(kind, losersOf(link, lost, removed))}) as records`.execute(db)
}

/** Selects the ids of the records that lose a link, without those that are removed themselves. */
function losersOf({ table, own, other }: Link, lost: RawBuilder<unknown>, removed: RawBuilder<unknown>) {
  return sql`
    select ${sql.ref(own)} from ${sql.table(table)}
    where ${sql.ref(other)} in (${lost}) and ${sql.ref(own)} not in (${removed})`
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
