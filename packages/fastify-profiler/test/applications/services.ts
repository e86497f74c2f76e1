import { connect } from 'node:net'
import type { Service } from './catalogue.ts'

/** Where the servers are that the applications connect to. */
const services: Record<Service, { variable: string; url: string }> = {
  PostgreSQL: { variable: 'POSTGRES_URL', url: 'postgres://postgres@127.0.0.1:5432/postgres' },
  MariaDB: { variable: 'MYSQL_URL', url: 'mysql://root@127.0.0.1:3306/information_schema' },
  Redis: { variable: 'REDIS_URL', url: 'redis://127.0.0.1:6379' },
}

/** The variables that tell the applications where the servers are, from the environment or the usual place. */
export function serviceVariables(): Record<string, string> {
  return Object.fromEntries(
    Object.values(services).map(({ variable, url }) => [variable, process.env[variable] ?? url]),
  )
}

/** Whether something listens where a server should be. */
export async function isRunning(service: Service): Promise<boolean> {
  const { variable, url } = services[service]
  const { hostname, port } = new URL(process.env[variable] ?? url)
  return new Promise(resolve => {
    const socket = connect(Number(port), hostname)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => {
      resolve(false)
    })
  })
}
