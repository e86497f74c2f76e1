import { type Kysely, sql, type Transaction } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { writeInHalves } from '../database/write-in-halves.ts'
import { HttpError } from '../errors/http-errors.ts'
import { type Author, writeAdditions } from './audit.ts'
import { refusedWrite } from './refusals.ts'
import { changeRecordWithin, insertLinks } from './repository.ts'
import { describeFieldErrors, validator } from './validation.ts'
import type { ImportRow } from './import-rows.ts'
import { type RecordKind, referencesOf } from './record-kind.ts'

/** Rows per INSERT, and about how many of their characters: an embedded database takes 64 MiB beside its server. */
const batchSize = 5000
const longestBatch = 8 * 1024 * 1024
const mostNamed = 50

interface BadLine {
  line: number
  reason: string
}

/** Nothing was imported because some lines are invalid. */
export class ImportRefusedError extends Error {
  override readonly name = 'ImportRefusedError'
  readonly named: readonly BadLine[]
  readonly count: number

  constructor(named: readonly BadLine[], count: number) {
    super(`${count} lines are invalid.`)
    this.named = named
    this.count = count
  }
}

interface ImportOptions {
  /** Whether a line changes the record that its kind's knownBy names, if there is one. Default: it is refused. */
  update?: boolean
  /** Whether everything is tried and nothing kept. Default: false. */
  isDryRun?: boolean
}

/** Rolls the transaction of a dry run back. */
const nothingIsKept = new Error('Nothing is kept.')

type Values = Record<string, unknown>

interface Candidate {
  line: number
  values: Values
}

/**
 * Adds many records in one transaction: all or none, with their lines in the audit.
 * @param onProgress called after each batch with the number of rows read so far
 * @returns how many records were added and changed, or would be
 * @throws {ImportRefusedError} after the last row, if any row is invalid
 */
export async function importRecords(
  db: Kysely<Tables>,
  author: Author,
  kind: RecordKind,
  rows: AsyncIterable<ImportRow>,
  onProgress: (rows: number) => void,
  { update = false, isDryRun = false }: ImportOptions = {},
) {
  const validate = validator(kind.create)
  const bad: BadLine[] = []
  let badLines = 0
  let read = 0
  const outcome = { added: 0, changed: 0 }

  await db
    .transaction()
    .execute(importAll)
    .catch((error: unknown) => {
      if (error !== nothingIsKept) throw error
    })
  return outcome

  async function importAll(transaction: Transaction<Tables>): Promise<void> {
    let batch: ImportRow[] = []
    let length = 0
    for await (const row of rows) {
      read++
      batch.push(row)
      length += row.length ?? 0
      if (batch.length < batchSize && length < longestBatch) continue
      await flush(batch)
      batch = []
      length = 0
    }
    await flush(batch)
    if (badLines > 0) throw new ImportRefusedError(bad, badLines)
    if (isDryRun) throw nothingIsKept

    async function flush(rows: readonly ImportRow[]): Promise<void> {
      const batch = (await withIds(transaction, kind, rows)).flatMap(({ line, value, problem }) => {
        const errors = problem === undefined ? validate(value) : [{ field: '', message: `The line ${problem}` }]
        if (errors.length === 0 && typeof value === 'object') return { line, values: { ...value } }
        refuse(line, describeFieldErrors(errors))
        return []
      })
      await writeInHalves(
        transaction,
        batch,
        writeBatch,
        error => refusedWrite(kind, [], error)?.message,
        ({ line }, reason) => refuse(line, reason),
      )
      onProgress(read)
    }

    async function writeBatch(batch: readonly Candidate[]): Promise<void> {
      // Refusals of an attempt are kept only if it succeeds.
      const refused: BadLine[] = []
      const remember: Refuse = (line, reason) => refused.push({ line, reason })
      const known = await withKnownReferences(transaction, kind, batch, remember)
      const unknown = update ? await updateRecords(transaction, author, kind, known, remember) : known
      await insertRecords(transaction, author, kind, unknown, remember)
      outcome.added += unknown.length
      outcome.changed += known.length - unknown.length
      for (const { line, reason } of refused) refuse(line, reason)
    }
  }

  function refuse(line: number, reason: string): void {
    badLines++
    if (bad.length < mostNamed) bad.push({ line, reason })
  }
}

/** Replaces the names of records by their ids: "license" by "license_id", and "languages" by "language_ids". */
async function withIds(
  db: Kysely<Tables>,
  kind: RecordKind,
  rows: readonly ImportRow[],
): Promise<readonly ImportRow[]> {
  let resolved = rows
  for (const { field, option, listOption, to } of referencesOf(kind)) {
    const called = listOption ?? option
    if (called in kind.create.properties) continue
    const named = resolved.map(row => {
      const values: Values = row.value instanceof Object ? { ...row.value } : {}
      const isNamed = called in values && !(field in values)
      return { row, values, names: isNamed ? namesIn(to, values[called], listOption !== undefined) : undefined }
    })
    const ids = await idsByName(db, to, new Set(named.flatMap(({ names = [] }) => names)))
    resolved = named.map(({ row, values: { [called]: _, ...values }, names }) => {
      if (names === undefined) return row
      const unclear = names.find(name => ids.get(name)?.length !== 1)
      if (unclear !== undefined) {
        const number = ids.has(unclear) ? 'more than one' : 'no existing'
        return { ...row, problem: `names ${number} ${to.name} ${JSON.stringify(unclear)}` }
      }
      const found = names.flatMap(name => ids.get(name) ?? [])
      return { ...row, value: { ...values, [field]: listOption === undefined ? (found[0] ?? null) : found } }
    })
  }
  return resolved
}

/** The names in a value, as idsByName compares them. In CSV commas separate the items of a list. */
function namesIn(to: RecordKind, value: unknown, isList: boolean): string[] {
  const names: unknown[] = isList && typeof value === 'string' ? value.split(',') : [value ?? []].flat()
  return names
    .map(name => String(name).trim())
    .filter(name => name !== '')
    .map(name => nameOf(to, { [to.knownBy]: name }))
}

type Refuse = (line: number, reason: string) => void

async function withKnownReferences(
  db: Kysely<Tables>,
  kind: RecordKind,
  candidates: readonly Candidate[],
  refuse: Refuse,
): Promise<Candidate[]> {
  let known = [...candidates]
  for (const { field, refersTo } of Object.values(kind.constraints)) {
    if (refersTo === undefined) continue
    const ids = [...new Set(known.flatMap(({ values }) => values[field] ?? []))]
    const { rows } = await sql<{ id: string }>`
      select id from ${sql.table(refersTo.table)} where id = any(${ids}::bigint[])`.execute(db)
    const existing = new Set<unknown>(rows.map(({ id }) => id))
    known = known.filter(({ line, values }) => {
      const missing = [values[field] ?? []]
        .flat()
        .map(String)
        .filter(id => !existing.has(id))
      if (missing.length > 0) {
        refuse(line, `${field} names no existing ${refersTo.name}: ${missing.join(', ')}.`)
      }
      return missing.length === 0
    })
  }
  return known
}

/** Changes the records that exist. A field that a line leaves out stays as it is. @returns the other candidates */
async function updateRecords(
  db: Kysely<Tables>,
  author: Author,
  kind: RecordKind,
  candidates: readonly Candidate[],
  refuse: Refuse,
): Promise<Candidate[]> {
  const unknown = new Map<string, Candidate>()
  const ids = await idsByName(db, kind, new Set(candidates.map(({ values }) => nameOf(kind, values))))
  for (const { line, values } of candidates) {
    const name = nameOf(kind, values)
    const [id] = ids.get(name) ?? []
    if (id === undefined) {
      // A later line with the same name changes what an earlier one adds.
      unknown.set(name, { line, values: { ...unknown.get(name)?.values, ...values } })
      continue
    }
    try {
      await changeRecordWithin(db, author, kind, id, values, await kind.prepare(values))
    } catch (error) {
      if (!(error instanceof HttpError)) throw error
      refuse(line, error.message)
    }
  }
  return [...unknown.values()]
}

/** The name by which people know a record, as its unique index compares it. */
function nameOf({ knownBy, filters }: RecordKind, values: Values): string {
  const name = String(values[knownBy])
  return filters[knownBy]?.ignoresCase === true ? name.toLowerCase() : name
}

/** The ids of the records with these names, the lowest first. */
async function idsByName(db: Kysely<Tables>, kind: RecordKind, names: ReadonlySet<string>) {
  if (names.size === 0) return new Map<string, string[]>()
  const column = sql.ref(kind.knownBy)
  const name = kind.filters[kind.knownBy]?.ignoresCase === true ? sql`lower(${column})` : sql`${column}::text`
  // PostgreSQL refuses NUL, which no name has.
  const sent = [...names].filter(name => !name.includes('\0'))
  const { rows } = await sql<{ ids: string[]; name: string }>`
    select array_agg(id::text order by id) as ids, ${name} as name from ${sql.table(kind.table)}
    where ${name} = any(${sent}::text[]) group by ${name}`.execute(db)
  return new Map(rows.map(({ ids, name }) => [name, ids]))
}

async function insertRecords(
  db: Kysely<Tables>,
  author: Author,
  kind: RecordKind,
  candidates: readonly Candidate[],
  refuse: Refuse,
): Promise<void> {
  const consistent = candidates.filter(({ line, values }) => {
    const errors = kind.errorsOf(values)
    if (errors.length > 0) refuse(line, describeFieldErrors(errors))
    return errors.length === 0
  })
  const ids = await reserveIds(db, kind, consistent.length)
  const records = await Promise.all(
    consistent.map(async ({ line, values }, index) => ({
      line,
      values,
      id: ids[index] ?? '',
      columns: await kind.prepare(values),
    })),
  )
  if (records.length === 0) return
  const added = new Set<string>()
  for (const { names, rows } of groupsByColumns(kind, records)) {
    const list = sql.join(names.map(name => sql.ref(name)))
    // JSON takes one parameter for any number of rows.
    const inserted = await sql<{ id: string }>`
      insert into ${sql.table(kind.table)} (${list})
      select ${list} from json_populate_recordset(null::${sql.table(kind.table)}, ${JSON.stringify(rows)}::json)
      on conflict do nothing returning id`.execute(db)
    for (const { id } of inserted.rows) added.add(id)
  }
  for (const { line, id } of records) {
    if (!added.has(id)) refuse(line, `Another ${kind.name} has this ${uniqueFieldsOf(kind)}.`)
  }
  await linkRecords(
    db,
    kind,
    records.filter(({ id }) => added.has(id)),
  )
  await writeAdditions(db, author, kind, sql`select unnest(${[...added]}::bigint[])`)
}

/** The rows to insert, grouped by their columns: one INSERT needs the same columns in every row. */
function groupsByColumns({ links }: RecordKind, records: readonly { id: string; columns: Values }[]) {
  const groups = new Map<string, { names: string[]; rows: Values[] }>()
  for (const { id, columns } of records) {
    const row = { ...columns, id }
    const names = Object.keys(row)
      .filter(name => !(name in links))
      .sort()
    const group = groups.get(names.join()) ?? { names, rows: [] }
    group.rows.push(row)
    groups.set(names.join(), group)
  }
  return groups.values()
}

async function reserveIds(db: Kysely<Tables>, kind: RecordKind, count: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select nextval(pg_get_serial_sequence(${kind.table}, 'id')) as id
    from generate_series(1, ${count}::int)`.execute(db)
  return rows.map(({ id }) => id)
}

function uniqueFieldsOf({ constraints }: RecordKind): string {
  return [
    ...new Set(
      Object.values(constraints)
        .filter(({ refersTo }) => refersTo === undefined)
        .map(({ field }) => field),
    ),
  ].join(' or ')
}

async function linkRecords(
  db: Kysely<Tables>,
  kind: RecordKind,
  records: readonly { id: string; values: Values }[],
): Promise<void> {
  for (const [field, link] of Object.entries(kind.links)) {
    const rows = records.flatMap(({ id, values }) => {
      const others: unknown[] = [values[field] ?? []].flat()
      return others.map((other, position) => ({ own: id, other, position }))
    })
    if (rows.length > 0) await insertLinks(db, link, rows)
  }
}
