import type { ExplainPool } from '../../core/feature.ts'
import type { Query } from '../../core/profile.ts'
import { type WatchedServer, watchedServers } from '../queries/drivers/driver.ts'
import { NoPlan } from './explain-query.ts'

/** Explains with a connection of the profiler's own, to the PostgreSQL that the application was seen to use. */
export const ownConnections: ExplainPool = { connect: async () => theOnly('postgresql').connect() }

const toMysql: ExplainPool = { connect: async () => theOnly('mysql').connect() }

/** Where a query is explained. @param given the pool of the application, which is one of PostgreSQL */
export function poolFor({ system }: Query, given: ExplainPool): ExplainPool {
  return system === 'mysql' ? toMysql : given
}

function theOnly(system: WatchedServer['system']): WatchedServer {
  const [server, ...others] = watchedServers(system)
  const isMysql = system === 'mysql'
  if (server === undefined) {
    throw new NoPlan(
      `The application has sent no query with ${isMysql ? 'mysql2' : 'pg'} since it started. Send the request again, ` +
        `then explain.${isMysql ? '' : ' If it uses another library, or another way to connect, its option explainPool gives a pool.'}`,
    )
  }
  if (others.length === 0) return server
  const names = [server, ...others.slice(0, 3)].map(({ name }) => name).join(', ')
  const which = isMysql ? 'Only one of MySQL can be asked.' : 'Its option explainPool says which to ask.'
  throw new NoPlan(`The application uses several databases (${names}). ${which}`)
}
