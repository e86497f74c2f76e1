// Imported, because tests replace the global timers.
import { clearTimeout, setTimeout } from 'node:timers'
import type { ExplainClient, ExplainPool } from '../../core/feature.ts'
import { isObject, isRecord, listOf, propertyOf, read, textOf } from '../../core/foreign-value.ts'
import { masked } from '../../core/mask/known-secrets.ts'
import type { Json, Query } from '../../core/profile.ts'
import { functionsIn, type Table } from './filter.ts'
import { type WatchedServer, watchedServers } from '../queries/drivers/driver.ts'
import { explainOnMysql } from './mysql.ts'
import { NoPlan, planIn, type PlanNode, type ShownNode } from './plan.ts'
import { type Schema, type Verdict, verdictsOf } from './verdicts.ts'

const knows = (system: string) => watchedServers(system).length > 0

/** Explains with a connection of the profiler's own, to the PostgreSQL that the application was seen to use. */
export const ownConnections: ExplainPool = { connect: async () => theOnly('postgresql').connect(), knows }

const toMysql: ExplainPool = { connect: async () => theOnly('mysql').connect(), knows }

/** Where a query is explained. @param given the pool of the application, which is one of PostgreSQL */
export function poolFor({ system }: Query, given: ExplainPool): ExplainPool {
  return system === 'mysql' ? toMysql : given
}

function theOnly(system: WatchedServer['system']): WatchedServer {
  const [server, ...others] = watchedServers(system)
  const isMysql = system === 'mysql'
  if (server === undefined) {
    throw new NoPlan(
      `The application has sent no query with ${isMysql ? 'mysql2' : 'pg'} since it started. If it uses that, send the ` +
        `request again, then explain.${isMysql ? '' : ' For another library, such as postgres.js, register the plugin with a pg.Pool as its option explainPool. The flag has no such option.'}`,
    )
  }
  if (others.length === 0) return server
  const names = [server, ...others.slice(0, 3)].map(({ name }) => name).join(', ')
  const which = isMysql ? 'Only one of MySQL can be asked.' : 'Its option explainPool says which to ask.'
  throw new NoPlan(`The application uses several databases (${names}). ${which}`)
}

/** The plan of a query. values: for its parameters. generic: for any. run: as the query has run just now. */
export interface Explanation {
  plan: 'values' | 'generic' | 'run'
  verdicts: Verdict[]
  nodes: ShownNode[]
}

/** Milliseconds that a query may take. */
const longest = 2000

/** Milliseconds until a database that does not limit a statement's time is given up. The other message is better. */
const patience = longest + 500

/** Prepared for one explanation, since an application's own statements may have any other name. */
const preparedName = 'fastify_profiler_explains'

export function isExplainable({ system, error, sql }: Pick<Query, 'system' | 'error' | 'sql'>): boolean {
  const isKnown = system === 'postgresql' || system === 'mysql'
  return isKnown && error === null && /^[\s(]*(?:select|with|values|insert|update|delete|merge)\b/i.test(sql)
}

/** Whether there is a database to explain a stored query with. */
export function canExplain(given: ExplainPool, query: Query): boolean {
  return isExplainable(query) && poolFor(query, given).knows?.(query.system) !== false
}

/** Whether a stored query can be run again: a SELECT whose values are all known, which the database can stop. */
export function canRunAgain({ canStop = () => true }: ExplainPool, query: Query): boolean {
  const isSelect = /^[\s(]*select\b(?!.*\binto\b)/is.test(query.sql)
  return canStop() && isExplainable(query) && isSelect && areComplete(query)
}

/**
 * Asks the database for the plan of a query: in a transaction of its own that is read-only and rolled back, and for two
 * seconds at most. Runs the query only if `run` is true; then it must be a SELECT.
 * Never throws.
 */
export async function explainQuery(
  pool: ExplainPool,
  query: Query,
  run = false,
  wait = patience,
): Promise<Explanation | NoPlan> {
  if (!isExplainable(query)) {
    return new NoPlan('Only PostgreSQL, MySQL and MariaDB explain queries here, and only those that they have run.')
  }
  if (run && !canRunAgain(pool, query)) {
    return new NoPlan('Only a SELECT whose values are all known is run again, and only where the database can stop it.')
  }
  try {
    return await onConnection(pool, run, wait, client => explainOn(client, query, run))
  } catch (error) {
    return error instanceof NoPlan ? error : new NoPlan(`The database refuses to explain it: ${deepestMessage(error)}.`)
  }
}

async function explainOn(client: ExplainClient, query: Query, run: boolean): Promise<Explanation> {
  if (query.system === 'mysql') return explainMysql(client, query, run)
  await client.query({ text: 'begin read only' })
  await client.query({ text: `set local statement_timeout = ${longest}` })
  const plan = run ? 'run' : areComplete(query) ? 'values' : 'generic'
  const explained = plan === 'generic' ? await askGenerically(client, query) : await ask(client, query, run)
  const nodes = planIn(explained.rows)
  const verdicts = verdictsOf(nodes, await schemaOf(client, nodes))
  await client.query({ text: 'rollback' })
  if (plan === 'generic') await client.query({ text: `deallocate ${preparedName}` })
  return { plan, nodes, verdicts }
}

async function explainMysql(client: ExplainClient, query: Query, run: boolean): Promise<Explanation> {
  if (!areComplete(query)) {
    throw new NoPlan('MySQL plans a query for its values only, and some of them are masked or were not kept.')
  }
  const { rows } = await client.query({ text: 'select version()' })
  const isMariaDb = JSON.stringify(rows).includes('MariaDB')
  if (run && !isMariaDb) {
    throw new NoPlan('Of these databases, PostgreSQL and MariaDB tell what a query did, and MySQL not.')
  }
  // MySQL may tell plans in another form since 8.3, and before it there was no choice.
  const limit = isMariaDb
    ? `max_statement_time = ${longest / 1000}`
    : `max_execution_time = ${longest} /*!80300 , explain_json_format_version = 1 */`
  await client.query({ text: `set session ${limit}` })
  // Refuses even to plan a change if the transaction is read-only.
  const isReading = /^[\s(]*(?:select|with|values)\b/i.test(query.sql)
  await client.query({ text: `start transaction${isReading ? ' read only' : ''}` })
  const explained = await explainOnMysql(client, query, run)
  await client.query({ text: 'rollback' })
  return { plan: run ? 'run' : 'values', ...explained }
}

function ask(client: ExplainClient, { sql, parameters }: Query, run: boolean): Promise<{ rows: unknown[] }> {
  const text = `explain (format json${run ? ', analyze' : ''}) ${sql}`
  return client.query({ text, values: parameters, queryMode: 'extended' })
}

/** Plans a statement for any values: as a prepared one, which has no other plan if PostgreSQL is told so. */
async function askGenerically(client: ExplainClient, { sql }: Query): Promise<{ rows: unknown[] }> {
  await client.query({ text: 'set local plan_cache_mode = force_generic_plan' })
  await client.query({ text: `prepare ${preparedName} as ${sql}`, queryMode: 'extended' })
  const count = placeholdersIn(sql)
  const values = count === 0 ? '' : `(${Array.from({ length: count }, () => 'null').join(', ')})`
  return client.query({ text: `explain (format json) execute ${preparedName}${values}` })
}

/** The message of the first cause: an application may wrap the database's errors. */
function deepestMessage(error: unknown): string {
  // An address of two families has an error for each, and no message of its own.
  const cause = propertyOf(error, 'cause') ?? listOf(propertyOf(error, 'errors'))[0]
  return cause === undefined ? textOf(propertyOf(error, 'message')) : deepestMessage(cause)
}

/**
 * Lends a connection, until the time is over for a database that does not limit a statement's. Closes it afterwards,
 * unless all went well: its transaction may still be open. Also closes it after a query was run, which may have taken a
 * lock of the session.
 */
async function onConnection<Result>(
  pool: ExplainPool,
  run: boolean,
  wait: number,
  use: (client: ExplainClient) => Promise<Result>,
): Promise<Result> {
  const connecting = pool.connect()
  let timer: NodeJS.Timeout | undefined
  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new NoPlan('The database takes too long to explain it.')), wait)
  })
  let isUsed = false
  try {
    const client = await Promise.race([connecting, expired])
    isUsed = true
    const result = await Promise.race([use(client), expired])
    client.release(run)
    return result
  } catch (error) {
    // A connection may come when nobody waits for it any more.
    void connecting.then(client => client.release(isUsed)).catch(() => {})
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** What the database knows of the tables that a plan scans, and of the functions in its filters. */
async function schemaOf(client: ExplainClient, nodes: readonly PlanNode[]): Promise<Schema> {
  const names = [...new Set(nodes.flatMap(({ relation }) => relation ?? []))]
  const functions = [...new Set(nodes.flatMap(({ filter }) => (filter === null ? [] : functionsIn(filter))))]
  const known = await client.query({ text: tableQuery, values: [names] })
  const fixed = functions.length === 0 ? { rows: [] } : await client.query({ text: functionQuery, values: [functions] })
  return {
    tables: new Map(known.rows.filter(isObject).map(row => [textOf(read(row, 'name')), tableOf(row)])),
    immutable: new Set(fixed.rows.map(row => textOf(propertyOf(row, 'name')))),
  }
}

/** Of tables with one name in several schemas, the largest is the last. */
const tableQuery = `select c.relname as name, c.reltuples::float8 as size, p.relname as parent,
  (select jsonb_object_agg(a.attname, format_type(a.atttypid, null)) from pg_attribute a
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent
where c.relname = any($1) order by c.reltuples`

/** A name may stand for several functions. */
const functionQuery =
  "select proname as name from pg_proc where proname = any($1) group by proname having bool_and(provolatile = 'i')"

function tableOf(row: object): Table {
  const parent = read(row, 'parent')
  const columns = read(row, 'columns')
  const types = isRecord(columns) ? Object.entries(columns).map(([name, type]) => [name, textOf(type)] as const) : []
  return {
    name: textOf(read(row, 'name')),
    rows: Number(read(row, 'size')),
    parent: typeof parent === 'string' ? parent : null,
    columns: Object.fromEntries(types),
  }
}

function areComplete({ sql, parameters }: Query): boolean {
  return placeholdersIn(sql) <= parameters.length && !sql.includes(masked) && parameters.every(isKept)
}

/** The highest number of a placeholder. */
function placeholdersIn(sql: string): number {
  return Math.max(0, ...[...sql.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))
}

/** Not masked, and not replaced by a description of what it was. */
function isKept(parameter: Json): boolean {
  const text = JSON.stringify(parameter)
  return (
    !text.includes(masked) && !/"(?:\[(?:object of )?\d+ (?:characters|bytes)\]|… \(\d+ parameters\))"|…"/.test(text)
  )
}
