// Buys 30 to 40 of the 110 to 140 µs of CPU of a small query: `npm run -w bench mechanisms`.
import { type Compilable, type CompiledQuery, createQueryId, type Kysely } from 'kysely'
import type pg from 'pg'
import { type QueryEvents, queryPlumbing } from './query-events.ts'
import type { Tables } from './tables.ts'

queryPlumbing.add(import.meta.filename)

/** What is asked of a connection of pg's. */
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

/** What stands in a query for its parameter while it is compiled. */
const placeholder = '$parameter'

/** PostgreSQL's feature_not_supported: a column of the result has another type than when the statement was prepared. */
const resultHasChanged = '0A000'

const connectionsOf = new WeakMap<Kysely<Tables>, Connections>()

/** The names that a connection knows statements by. */
const namesOf = new WeakMap<Connection, Map<string, string>>()

/** All that were given: with the embedded database one session outlives its connections, and the names in it. */
let names = 0

/** Says where the prepared queries of a database are sent, and who is told of them. */
export function sendPreparedQueries(db: Kysely<Tables>, connections: Connections): void {
  connectionsOf.set(db, connections)
}

/**
 * Compiles a query of one parameter once, and sends it as a named statement, which PostgreSQL parses and plans once a
 * connection: building it each time, and the way through Kysely, take this process more than all else that it does for it.
 * @param build is called once, with what stands for the parameter
 * @returns runs the query
 */
export function prepareQuery<Row extends pg.QueryResultRow>(
  db: Kysely<Tables>,
  build: (parameter: string) => Compilable<Row>,
): (parameter: string) => Promise<Row[]> {
  const connections = connectionsOf.get(db)
  if (connections === undefined) throw new Error('This database sends no prepared queries.')
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

/** A name that no statement has, by which this one is known from here on. */
function nameAnew(text: string, known: Map<string, string>): string {
  const name = `portico_${names++}`
  known.set(text, name)
  return name
}

/** With the stack of whoever asked, of which an error that came over the wire knows nothing. */
function withCaller(error: unknown): unknown {
  const { stack = '' } = new Error()
  if (error instanceof Error) error.stack += stack.slice(stack.indexOf('\n'))
  return error
}
