import { cpSync } from 'node:fs'
import { resolve } from 'node:path'
import { sql } from 'kysely'
import { createDatabase as createThrowawayDatabase, dropDatabase } from './throwaway-database.ts'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { seed } from '../../src/database/migrate.ts'
import { type Closing, makeFolder } from './folder.ts'

/** The PostgreSQL that the suite runs on; without it each test file has an embedded database of its own. */
export const serverUrl = process.env['TEST_DATABASE_URL']

/** Made before the suite: see make-embedded-template.ts. */
export const embeddedTemplate = resolve('.tap/embedded-database')

let folder: Closing | undefined
let shared: Database | undefined

/** Has the test files of this process use one database, closed when all of them have ended: opening an embedded one takes seconds. */
export function shareTestDatabase(closing: Closing): void {
  folder = closing
}

/** A database for a test file, with nothing in it but what a new one has. */
export async function openTestDatabase(t: Closing): Promise<Database> {
  if (shared !== undefined) {
    await renew(shared)
    return shared
  }
  const closing = folder ?? t
  const dataDir = serverUrl === undefined ? makeEmbeddedFolder(closing) : makeFolder(closing)
  const database = await openDatabase({ databaseUrl: serverUrl && (await createDatabase(closing, serverUrl)), dataDir })
  closing.teardown(() => database.close())
  if (folder !== undefined) shared = database
  return database
}

async function renew({ db }: Database): Promise<void> {
  const tables = await db.introspection.getTables()
  const emptied = tables.map(({ name }) => name).filter(name => name !== 'portico_migrations')
  await sql`truncate ${sql.join(emptied.map(name => sql.table(name)))} restart identity cascade`.execute(db)
  if (serverUrl === undefined) await seed(db)
}

/** A folder with an embedded database that has been started once, gone after the test. */
export function makeEmbeddedFolder(t: Closing): string {
  const folder = makeFolder(t)
  cpSync(embeddedTemplate, folder, { recursive: true })
  return folder
}

/** An empty database on the server. @returns its URL */
export async function createDatabase(t: Closing, serverUrl: string): Promise<string> {
  const url = await createThrowawayDatabase(serverUrl, 'portico_test_')
  t.teardown(() => dropDatabase(serverUrl, url))
  return url
}
