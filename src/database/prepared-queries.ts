// Saves 30 to 40 of the 110 to 140 µs of CPU that a small query costs: `npm run -w bench mechanisms`.
import { type Compilable, type CompiledQuery, createQueryId, type Kysely } from 'kysely'
import type pg from 'pg'
import { type QueryEvents, queryPlumbing } from './query-events.ts'
import type { Tables } from './tables.ts'

queryPlumbing.add(import.meta.filename)

/** The part of pg's PoolClient that prepared queries use. */
export interface Connection {
  query<Row extends pg.QueryResultRow>(query: pg.QueryConfig): Promise<pg.QueryResult<Row>>
  release(): void
}

export interface ConnectionPool {
  connect(): Promise<Connection>
}

interface Connections {
  pool: ConnectionPool
  queries: QueryEvents
}

/** Marks the parameter in a compiled query. */
const placeholder = '$parameter'

/** PostgreSQL's feature_not_supported: a result column's type has changed since the statement was prepared. */
const resultHasChanged = '0A000'

const connectionsOf = new WeakMap<Kysely<Tables>, Connections>()

/** The statement names of each connection, by SQL text. */
const namesOf = new WeakMap<Connection, Map<string, string>>()

/** Never restarts: the embedded database's one session keeps its statements when a connection is replaced. */
let names = 0

/** Sets the pool that a database's prepared queries use, and the emitter of their events. */
export function sendPreparedQueries(db: Kysely<Tables>, connections: Connections): void {
  connectionsOf.set(db, connections)
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
  const connections = connectionsOf.get(db)
  if (connections === undefined) throw new Error('Call sendPreparedQueries() for this database first.')
  const { pool, queries } = connections
  const compiled = build(placeholder).compile()
  return async parameter => {
    const query = {
      ...compiled,
      queryId: createQueryId(),
      parameters: compiled.parameters.map(value => (value === placeholder ? parameter : value)),
    }
    queries.emit('asked', query.queryId)
    const connection = await pool.connect()
    try {
      return await ask<Row>(connection, query, queries)
    } finally {
      connection.release()
    }
  }
}

async function ask<Row extends pg.QueryResultRow>(
  connection: Connection,
  query: CompiledQuery,
  queries: QueryEvents,
): Promise<Row[]> {
  const began = performance.now()
  try {
    const { rows } = await send<Row>(connection, query.sql, [...query.parameters])
    queries.emit('ended', { level: 'query', query, queryDurationMillis: performance.now() - began })
    queries.emit('returned', query.queryId, rows.length)
    return rows
  } catch (error) {
    queries.emit('ended', { level: 'error', error, query, queryDurationMillis: performance.now() - began })
    throw withCaller(error)
  }
}

async function send<Row extends pg.QueryResultRow>(
  connection: Connection,
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

function beginNames(connection: Connection): Map<string, string> {
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
