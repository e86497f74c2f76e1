import type { ExplainPool } from '../../core/feature.ts'
import { type WatchedServer, watchedServers } from '../queries/drivers/pg.ts'
import { NoPlan } from './explain-query.ts'

/** Explains with a connection of the profiler's own, to the PostgreSQL that the application was seen to use. */
export const ownConnections: ExplainPool = {
  async connect() {
    const client = theOnly(watchedServers()).makeClient()
    // An idle connection that breaks must not end the process.
    client.on('error', () => {})
    try {
      await client.connect()
    } catch (error) {
      client.end().catch(() => {})
      throw error
    }
    return {
      query: query => client.query(query),
      release: () => {
        client.end().catch(() => {})
      },
    }
  },
}

function theOnly([server, ...others]: readonly WatchedServer[]): WatchedServer {
  if (server === undefined) {
    throw new NoPlan(
      'The application has sent no query with pg since it started. Send the request again, then explain. ' +
        'If it uses another library, or another way to connect, its option explainPool gives a pool.',
    )
  }
  if (others.length === 0) return server
  const names = [server, ...others.slice(0, 3)].map(({ name }) => name).join(', ')
  throw new NoPlan(`The application uses several databases (${names}). Its option explainPool says which to ask.`)
}
