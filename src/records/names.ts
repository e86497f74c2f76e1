import { type Kysely, sql } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { RecordKind } from './record-kind.ts'
import { type AnyRecord, listRecords } from './repository.ts'
import { selectionOf } from './selection.ts'
import { formats, fromText } from './validation.ts'

export type Names = ReadonlyMap<string, string>

/** The most records that a form offers all at once. Of more, people search for one. */
const mostOffered = 200

/** The filter by which people search for a record, and whether it compares the beginning or the whole. */
export function searchOf({ knownBy, filters }: RecordKind): string {
  const prefix = `${knownBy}_prefix`
  return prefix in filters ? prefix : knownBy
}

export type Offer = Awaited<ReturnType<typeof offer>>

/**
 * Offers records to refer to: those that are chosen, and all others if they are few, or those that are searched for.
 * @param searched how their names begin, or empty
 */
export async function offer(db: Kysely<Tables>, kind: RecordKind, chosen: readonly string[], searched: string) {
  const search = searchOf(kind)
  const filters = searched === '' ? {} : { [search]: fromText(kind.filters[search]?.schema, searched) }
  const sort = kind.sorts.includes(kind.knownBy) ? kind.knownBy : 'id'
  const { records } = await listRecords(db, kind, { filters, sort, after: undefined, limit: mostOffered + 1 })
  const areAll = searched === '' && records.length <= mostOffered
  const found = areAll || searched !== '' ? records.slice(0, mostOffered) : []
  const known = await namesOf(db, kind, chosen)
  const first = chosen.map(id => [id, known.get(id) ?? `# ${id}`] as const)
  return { names: new Map([...first, ...(await nameRecords(db, kind, found))]), areAll, searched }
}

/** Reads the names of records, if there are such records. */
export async function namesOf(db: Kysely<Tables>, kind: RecordKind, ids: readonly unknown[]): Promise<Names> {
  return await nameRecords(db, kind, await readRecords(db, kind, ids))
}

/** What records are known by and, if they belong to another one, what that is known by: "Guides (a.test)". */
async function nameRecords(db: Kysely<Tables>, kind: RecordKind, records: readonly AnyRecord[]): Promise<Names> {
  const owner = Object.values(kind.constraints).find(
    ({ field, cascades }) => cascades === true && kind.create.required?.includes(field) === true,
  )
  const ownerOf = (record: AnyRecord) => (owner === undefined ? undefined : record[owner.field])
  const owners = owner?.refersTo && (await readRecords(db, owner.refersTo, records.map(ownerOf)))
  const owning = new Map(owners?.map(({ id, ...fields }) => [id, String(fields[owner?.refersTo?.knownBy ?? ''])]))
  return new Map(
    records.map(record => {
      const ownerName = owning.get(String(ownerOf(record)))
      return [record.id, `${String(record[kind.knownBy])}${ownerName === undefined ? '' : ` (${ownerName})`}`]
    }),
  )
}

async function readRecords(db: Kysely<Tables>, kind: RecordKind, ids: readonly unknown[]): Promise<AnyRecord[]> {
  const known = [...new Set(ids)].filter(id => typeof id === 'string' && formats.id.accepts(id))
  if (known.length === 0) return []
  const { rows } = await sql<AnyRecord>`
    select ${selectionOf(kind)} from ${sql.table(kind.table)} where id = any(${known}::bigint[])`.execute(db)
  return rows
}
