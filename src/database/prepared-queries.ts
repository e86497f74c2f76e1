// Saves 30 to 40 of the 110 to 140 µs of CPU that a small query costs: `npm run -w bench mechanisms`.
import type { Compilable, Kysely } from 'kysely'
import type pg from 'pg'
import type { Tables } from './tables.ts'

/** The part of pg's PoolClient that prepared queries use. */
export interface QueryConnection {
  query<Row extends pg.QueryResultRow>(query: pg.QueryConfig): Promise<pg.QueryResult<Row>>
  release(destroy?: boolean): void
}

export interface ConnectionPool {
  connect(): Promise<QueryConnection>
  /** Undefined if it does not keep its connections. */
  readonly counts?: () => ConnectionCounts
}

export interface ConnectionCounts {
  /** Open connections, in use or not. */
  size: number
  idle: number
  /** Callers that wait for a connection. */
  waiting: number
}

/** Marks the parameter in a compiled query. */
const placeholder = '$parameter'

/** PostgreSQL's feature_not_supported: a result column's type has changed since the statement was prepared. */
const resultHasChanged = '0A000'

const pools = new WeakMap<Kysely<Tables>, ConnectionPool>()

/** The statement names of each connection, by SQL text. */
const namesOf = new WeakMap<QueryConnection, Map<string, string>>()

/** Never restarts: the embedded database's one session keeps its statements when a connection is replaced. */
let names = 0

/** Sets the pool that a database's prepared queries use. */
export function sendPreparedQueries(db: Kysely<Tables>, pool: ConnectionPool): void {
  pools.set(db, pool)
}

/**
 * Compiles a query with one parameter once and sends it as a named statement, which PostgreSQL parses and plans once
 * per connection. Building the query and executing it through Kysely each time would cost more than all other work on
 * it in this process.
 * @param build called once, with a placeholder for the parameter
 * @returns a function that runs the query
 */
export function prepareQuery<Row extends pg.QueryResultRow>(
  db: Kysely<Tables>,
  build: (parameter: string) => Compilable<Row>,
): (parameter: string) => Promise<Row[]> {
  const pool = pools.get(db)
  if (pool === undefined) throw new Error('Call sendPreparedQueries() for this database first.')
  const { sql, parameters } = build(placeholder).compile()
  return async parameter => {
    const values = parameters.map(value => (value === placeholder ? parameter : value))
    const connection = await pool.connect()
    const { rows } = await send<Row>(connection, sql, values)
      .catch((error: unknown) => {
        throw withCaller(error)
      })
      .finally(() => connection.release())
    return rows
  }
}

async function send<Row extends pg.QueryResultRow>(
  connection: QueryConnection,
  text: string,
  values: unknown[],
): Promise<pg.QueryResult<Row>> {
  const known = namesOf.get(connection) ?? beginNames(connection)
  try {
    return await connection.query<Row>({ name: known.get(text) ?? nameAnew(text, known), text, values })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === resultHasChanged)) throw error
    return await connection.query<Row>({ name: nameAnew(text, known), text, values })
  }
}

function beginNames(connection: QueryConnection): Map<string, string> {
  const known = new Map<string, string>()
  namesOf.set(connection, known)
  return known
}

/** Gives the statement a new, unique name. */
function nameAnew(text: string, known: Map<string, string>): string {
  const name = `portico_${names++}`
  known.set(text, name)
  return name
}

/** Appends the caller's stack, which an error from the wire lacks. */
function withCaller(error: unknown): unknown {
  const { stack = '' } = new Error()
  if (error instanceof Error) error.stack += stack.slice(stack.indexOf('\n'))
  return error
}
