import type { Query } from '../../base/profile.ts'

/** The queries that one line sent with one statement, in one transaction or outside of any. */
export interface QueryGroup {
  first: Query
  queries: Query[]
  /** The number of the first, from 1. */
  number: number
  /** Milliseconds of all, without their waits. */
  duration: number
}

/** Gathers the queries that are one row, in the order in which the first of each was sent. */
export function groupQueries(queries: readonly Query[]): QueryGroup[] {
  const groups = new Map<string, QueryGroup>()
  for (const [index, query] of queries.entries()) {
    const { location, sql, transaction } = query
    const key = JSON.stringify([sql, transaction, location?.file, location?.line, location?.column])
    const group = groups.get(key) ?? { first: query, queries: [], number: index + 1, duration: 0 }
    group.queries.push(query)
    group.duration += query.duration ?? 0
    groups.set(key, group)
  }
  return [...groups.values()]
}

/** Rows that follow each other in one transaction, or outside of any. */
export interface TransactionRun {
  transaction: number | null
  groups: QueryGroup[]
}

/** Divides rows into the transactions that they ran in. */
export function divideByTransaction(groups: readonly QueryGroup[]): TransactionRun[] {
  const runs: TransactionRun[] = []
  for (const group of groups) {
    const { transaction } = group.first
    const last = runs.at(-1)
    if (last?.transaction === transaction) last.groups.push(group)
    else runs.push({ transaction, groups: [group] })
  }
  return runs
}
