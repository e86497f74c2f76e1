import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../src/database/database.ts'
import { embeddedTemplate } from '../support/test-database.ts'

// Prepares what all tests need.

// If tap built itself during a run, every process of that run would load TypeScript.
spawnSync(process.execPath, [join(import.meta.dirname, 'build-tap.js')], { stdio: 'inherit' })

// Creating an embedded database takes seconds, copying one does not.
if (!existsSync(embeddedTemplate)) {
  const database = await openDatabase({ databaseUrl: undefined, dataDir: embeddedTemplate })
  await database.close()
}
