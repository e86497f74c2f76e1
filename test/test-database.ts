import { cpSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Test } from 'tap'
import { createDatabase as createThrowawayDatabase, dropDatabase } from '../bench/throwaway-database.ts'
import { type Database, openDatabase } from '../src/database/database.ts'
import { makeFolder } from './folder.ts'

/** The PostgreSQL that the suite runs on; without it each test file has an embedded database of its own. */
export const serverUrl = process.env['TEST_DATABASE_URL']

/** Made before the suite: see make-embedded-template.ts. */
export const embeddedTemplate = resolve('.tap/embedded-database')

/** A database for a test file, gone after it. */
export async function openTestDatabase (t: Test): Promise<Database> {
  const dataDir = serverUrl === undefined ? makeEmbeddedFolder(t) : makeFolder(t)
  const database = await openDatabase({ databaseUrl: serverUrl && await createDatabase(t, serverUrl), dataDir })
  t.teardown(() => database.close())
  return database
}

/** A folder with an embedded database that has been started once, gone after the test. */
export function makeEmbeddedFolder (t: Test): string {
  const folder = makeFolder(t)
  cpSync(embeddedTemplate, folder, { recursive: true })
  return folder
}

/** An empty database on the server. @returns its URL */
export async function createDatabase (t: Test, serverUrl: string): Promise<string> {
  const url = await createThrowawayDatabase(serverUrl, 'portico_test_')
  t.teardown(() => dropDatabase(serverUrl, url))
  return url
}
