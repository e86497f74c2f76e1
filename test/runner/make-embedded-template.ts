import { rm } from 'node:fs/promises'
import { openDatabase } from '../../src/database/database.ts'
import { embeddedTemplate } from '../support/test-database.ts'

// Runs before the suite, because creating an embedded database takes seconds and copying one does not.
await rm(embeddedTemplate, { recursive: true, force: true })
const database = await openDatabase({ databaseUrl: undefined, dataDir: embeddedTemplate })
await database.close()
