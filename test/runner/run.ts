import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../src/database/database.ts'
import { embeddedTemplate } from '../support/test-database.ts'

// Prepares what all tests need, runs those of a tier, and says how long it took.
const [, , tier = 'test'] = process.argv
const start = performance.now()

// If tap built itself during a run, every process of that run would load TypeScript.
spawnSync(process.execPath, [join(import.meta.dirname, 'build-tap.js')], { stdio: 'inherit' })

// Creating an embedded database takes seconds, copying one does not.
if (!existsSync(embeddedTemplate)) {
  const database = await openDatabase({ databaseUrl: undefined, dataDir: embeddedTemplate })
  await database.close()
}

// tap's own reporters show nothing of a process before it ends, so the suite reports by itself.
const options = ['--reporter=tap', '--reporter-file=.tap/results.tap', `--test-arg=${tier}`]
if (tier !== 'test') options.push('--disable-coverage')
const { status } = spawnSync('tap', options, { stdio: 'inherit' })

const seconds = Math.round((performance.now() - start) / 1000)
const verdict = status === 0 ? 'All tests passed' : 'Tests failed (see .tap/results.tap)'
console.log(`${verdict}. They took ${Math.floor(seconds / 60)} min ${seconds % 60} s.`)
process.exitCode = status ?? 1
