import { type DatabaseUse, type Profile, type StatementTotals, toMicroseconds } from '../../core/profile.ts'
import type { ProfileSummary } from '../../core/summary.ts'

const statementsKept = 5
const longestStatement = 200

/** The statements of a request that took most time. */
export function statementTotals(database: Pick<DatabaseUse, 'queries' | 'statements'> | null): StatementTotals[] {
  const bySql = new Map<string, StatementTotals>()
  const listed = database?.queries.map(({ duration, sql }) => ({ sql, count: 1, duration: duration ?? 0 }))
  for (const { count, duration, sql: whole } of database?.statements ?? listed ?? []) {
    const sql = whole.slice(0, longestStatement)
    const totals = bySql.get(sql) ?? { sql, count: 0, duration: 0 }
    totals.count += count
    totals.duration = toMicroseconds(totals.duration + duration)
    bySql.set(sql, totals)
  }
  return [...bySql.values()].sort((one, other) => other.duration - one.duration).slice(0, statementsKept)
}

/** How often the most repeated statement ran in a loop, and whether it changed rows; 0 without a loop. */
export function repetitionsOf({ database }: Pick<Profile, 'database'>) {
  const loops = (database?.repetitions ?? []).filter(({ kind }) => kind !== 'duplicate')
  const [worst] = loops.sort((one, other) => other.count - one.count)
  return { repeated: worst?.count ?? 0, ...(worst?.kind === 'writes' && { repeatedWrites: true as const }) }
}

/** What searches and lists know about the queries of a request. */
export function summariseQueries(profile: Profile): Partial<ProfileSummary> {
  const { database } = profile
  if (database === null) return {}
  const { count, duration } = database
  return { queries: { count, duration }, statements: statementTotals(database), ...repetitionsOf(profile) }
}
