import pg from 'pg'
import { planCases, planTables, wrongVerdicts } from '../../test/plans.ts'
import { POSTGRES_URL } from './stores.ts'

/** Judges the plans of statements in a database of their own. @returns what was wrong, by statement */
export async function judgePlans(): Promise<Map<string, string[]>> {
  const server = new pg.Client(POSTGRES_URL)
  await server.connect()
  const name = `truth_plans_${process.pid}`
  await server.query(`create database ${name}`)
  const url = new URL(POSTGRES_URL)
  url.pathname = name
  const pool = new pg.Pool({ connectionString: url.href, options: '-c search_path=plans' })
  try {
    for (const statement of planTables) await pool.query(statement)
    const wrong = new Map<string, string[]>()
    for (const planned of planCases) wrong.set(planned.text, await wrongVerdicts(() => pool.connect(), planned))
    return wrong
  } finally {
    await pool.end()
    await server.query(`drop database ${name}`)
    await server.end()
  }
}
