import { randomBytes } from 'node:crypto'
import pg from 'pg'

/** Makes an empty database on a PostgreSQL, with a name that begins so. @returns its URL */
export async function createDatabase(server: string, prefix: string): Promise<string> {
  const name = `${prefix}${randomBytes(6).toString('hex')}`
  await runOn(server, `create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/** Removes the database of this URL, whoever is connected to it. @param server the URL of another one on the same PostgreSQL */
export async function dropDatabase(server: string, url: string): Promise<void> {
  await runOn(server, `drop database ${new URL(url).pathname.slice(1)} with (force)`)
}

async function runOn(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(statement)
  await client.end()
}
