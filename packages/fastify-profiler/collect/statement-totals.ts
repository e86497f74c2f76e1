import { toMicroseconds } from '../base/microseconds.ts'
import type { Profile, Query } from '../base/profile.ts'
import type { StatementTotals } from '../base/summary.ts'

const statementsKept = 5
const longestStatement = 200

/** The statements of a request that took most time. */
export function statementTotals(queries: readonly Query[]): StatementTotals[] {
  const bySql = new Map<string, StatementTotals>()
  for (const query of queries) {
    const sql = query.sql.slice(0, longestStatement)
    const totals = bySql.get(sql) ?? { sql, count: 0, duration: 0 }
    totals.count++
    totals.duration = toMicroseconds(totals.duration + (query.duration ?? 0))
    bySql.set(sql, totals)
  }
  return [...bySql.values()].sort((one, other) => other.duration - one.duration).slice(0, statementsKept)
}

/** How often the most repeated statement ran in a loop; 0 without a loop. */
export function repetitionsOf({ database }: Pick<Profile, 'database'>): number {
  const loops = (database?.repetitions ?? []).filter(({ kind }) => kind === 'loop')
  return loops.reduce((most, { count }) => Math.max(most, count), 0)
}
