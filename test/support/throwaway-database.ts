import { randomBytes } from 'node:crypto'
import pg from 'pg'

/** Makes an empty database on a PostgreSQL server, with this prefix in its name. @returns its URL */
export async function createDatabase(server: string, prefix: string): Promise<string> {
  const name = `${prefix}${randomBytes(6).toString('hex')}`
  await runOn(server, `create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/**
 * Drops a database, whoever is connected to it.
 * @param server the URL of another database on the same server
 */
export async function dropDatabase(server: string, url: string): Promise<void> {
  await runOn(server, `drop database ${new URL(url).pathname.slice(1)} with (force)`)
}

async function runOn(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(statement)
  await client.end()
}
