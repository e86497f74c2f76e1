import { cpSync } from 'node:fs'
import { resolve } from 'node:path'
import { sql } from 'kysely'
import { createDatabase as createThrowawayDatabase, dropDatabase } from './throwaway-database.ts'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { seed } from '../../src/database/migrate.ts'
import { type Closing, makeFolder } from './folder.ts'

/** The PostgreSQL server of the suite. Without it each test file has an embedded database. */
export const serverUrl = process.env['TEST_DATABASE_URL'] || undefined

/** Made before the tests: see prepare.ts. */
export const embeddedTemplate = resolve('.tap/embedded-database')

let folder: Closing | undefined
let shared: Database | undefined

/** Lets the test files of this process share a database until all have ended: opening one takes seconds. */
export function shareTestDatabase(closing: Closing): void {
  folder = closing
}

/** Opens a database for a test file, as empty as a new one. */
export async function openTestDatabase(t: Closing): Promise<Database> {
  if (shared !== undefined) {
    await renew(shared)
    return shared
  }
  const closing = folder ?? t
  const dataDir = serverUrl === undefined ? makeEmbeddedFolder(closing) : makeFolder(closing)
  const database = await openDatabase({ databaseUrl: serverUrl && (await createDatabase(closing, serverUrl)), dataDir })
  // Each app of a test listens, and some tests build many.
  database.changes.setMaxListeners(0)
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

/** Copies the folder of an embedded database, to be removed after the test. */
export function makeEmbeddedFolder(t: Closing): string {
  const folder = makeFolder(t)
  cpSync(embeddedTemplate, folder, { recursive: true })
  return folder
}

/** Makes an empty database on the server. @returns its URL */
export async function createDatabase(t: Closing, serverUrl: string): Promise<string> {
  const url = await createThrowawayDatabase(serverUrl, 'portico_test_')
  t.teardown(() => dropDatabase(serverUrl, url))
  return url
}
