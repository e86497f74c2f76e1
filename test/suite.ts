import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'

// A process for each folder: one for each file would load the app and open a database more often than tests need.
const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.test.js'))
const folders = [...new Set(files.map(file => dirname(file)))].sort()

// One more than there are processors: some tests wait for a process or a database.
t.jobs = availableParallelism() + 1
for (const folder of folders) {
  t.spawn(process.execPath, [...process.execArgv, join(import.meta.dirname, 'run-folder.js'), folder], { timeout: 300_000, buffered: true }, folder)
}
