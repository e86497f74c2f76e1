/** What explaining needs of a pool; a `pg.Pool` has it. */
export interface ExplainPool {
  connect: () => Promise<ExplainClient>
  /** Whether the database can stop a statement that takes too long. If not, no query is run again. Default: true. */
  canStop?: () => boolean
}

export interface ExplainClient {
  query: (query: ExplainQuery) => Promise<{ rows: unknown[] }>
  /** Gives the connection back, or destroys it. */
  release: (destroy?: boolean) => void
}

export interface ExplainQuery {
  text: string
  values?: unknown[]
  /** The extended protocol refuses several statements in one text. */
  queryMode?: 'extended'
}
