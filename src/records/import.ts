import { type Kysely, sql } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { describeFieldErrors } from './field-error.ts'
import type { ImportRow } from './import-rows.ts'
import { kinds } from './kinds.ts'
import type { RecordKind } from './record-kind.ts'
import { insertLinks } from './repository.ts'
import { validator } from './validation.ts'

/** Rows per INSERT. */
const batchSize = 5000
/** How many bad lines are listed. */
const mostNamed = 50

export interface BadLine {
  line: number
  /** What is wrong, as a sentence. */
  reason: string
}

/** Nothing was imported because some lines are invalid. */
export class ImportRefusedError extends Error {
  override readonly name = 'ImportRefusedError'
  /** The first of the bad lines. */
  readonly named: readonly BadLine[]
  /** The number of bad lines. */
  readonly count: number

  constructor(named: readonly BadLine[], count: number) {
    super(`${count} lines are invalid.`)
    this.named = named
    this.count = count
  }
}

type Values = Record<string, unknown>

interface Candidate {
  line: number
  values: Values
}

/**
 * Adds many records in one transaction: all or none.
 * @param onProgress called after each batch with the number of rows read so far
 * @returns the number of added records
 * @throws {ImportRefusedError} after the last row, if any row is invalid
 */
export async function importRecords(
  db: Kysely<Tables>,
  kind: RecordKind,
  rows: AsyncIterable<ImportRow>,
  onProgress: (rows: number) => void,
): Promise<number> {
  const validate = validator(kind.create)
  const bad: BadLine[] = []
  let badLines = 0
  let read = 0

  return await db.transaction().execute(async transaction => {
    let batch: Candidate[] = []
    for await (const { line, value, problem } of rows) {
      const errors = problem === undefined ? validate(value) : [{ field: '', message: `The line ${problem}` }]
      if (errors.length > 0 || typeof value !== 'object') refuse(line, describeFieldErrors(errors))
      else batch.push({ line, values: { ...value } })
      if (++read % batchSize === 0) batch = await flush(batch)
    }
    await flush(batch)
    if (badLines > 0) throw new ImportRefusedError(bad, badLines)
    return read

    async function flush(batch: readonly Candidate[]): Promise<Candidate[]> {
      const known = await withKnownReferences(transaction, kind, batch, refuse)
      await insertRecords(transaction, kind, known, refuse)
      onProgress(read)
      return []
    }
  })

  function refuse(line: number, reason: string): void {
    badLines++
    if (bad.length < mostNamed) bad.push({ line, reason })
  }
}

type Refuse = (line: number, reason: string) => void

/** The candidates whose references exist. The others are refused. */
async function withKnownReferences(
  db: Kysely<Tables>,
  kind: RecordKind,
  candidates: readonly Candidate[],
  refuse: Refuse,
): Promise<Candidate[]> {
  let known = [...candidates]
  for (const { field, refersTo } of Object.values(kind.constraints)) {
    const table = kinds.find(({ name }) => name === refersTo)?.table
    if (table === undefined) continue
    const ids = [...new Set(known.flatMap(({ values }) => values[field] ?? []))]
    const { rows } = await sql<{
      id: string
    }>`select id from ${sql.table(table)} where id = any(${ids}::bigint[])`.execute(db)
    const existing = new Set<unknown>(rows.map(({ id }) => id))
    known = known.filter(({ line, values }) => {
      const missing = [values[field] ?? []]
        .flat()
        .map(String)
        .filter(id => !existing.has(id))
      if (missing.length > 0) refuse(line, `${field} names a ${refersTo} that does not exist: ${missing.join(', ')}.`)
      return missing.length === 0
    })
  }
  return known
}

async function insertRecords(
  db: Kysely<Tables>,
  kind: RecordKind,
  candidates: readonly Candidate[],
  refuse: Refuse,
): Promise<void> {
  const ids = await reserveIds(db, kind, candidates.length)
  const records = await Promise.all(
    candidates.map(async ({ line, values }, index) => ({
      line,
      values,
      id: String(ids[index]),
      columns: { ...defaultsOf(kind), ...(await kind.prepare(values)) },
    })),
  )
  const [first] = records
  if (first === undefined) return
  const columns = ['id', ...Object.keys(first.columns).filter(name => !(name in kind.links))]
  const list = sql.join(columns.map(name => sql.ref(name)))
  // JSON takes one parameter for any number of rows.
  const json = JSON.stringify(records.map(({ id, columns }) => ({ ...columns, id })))
  const { rows } = await sql<{ id: string }>`
    insert into ${sql.table(kind.table)} (${list}) select ${list} from json_populate_recordset(null::${sql.table(kind.table)}, ${json}::json)
    on conflict do nothing returning id`.execute(db)
  const added = new Set(rows.map(({ id }) => id))
  for (const { line, id } of records) {
    if (!added.has(id)) refuse(line, `There is already a ${kind.name} with this ${uniqueFieldsOf(kind)}.`)
  }
  await linkRecords(
    db,
    kind,
    records.filter(({ id }) => added.has(id)),
  )
}

async function reserveIds(db: Kysely<Tables>, kind: RecordKind, count: number): Promise<string[]> {
  const { rows } = await sql<{
    id: string
  }>`select nextval(pg_get_serial_sequence(${kind.table}, 'id')) as id from generate_series(1, ${count}::int)`.execute(
    db,
  )
  return rows.map(({ id }) => id)
}

/** The values of absent fields. One INSERT needs the same columns in every row. */
function defaultsOf({ create: { properties } }: RecordKind): Values {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, schema]) => ('default' in schema ? [[name, schema.default]] : [])),
  )
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
