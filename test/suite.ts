import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'

/** Folders that share a process, since each process loads the app and opens a database before its first test. The longest first. */
const shared = [
  ['browser'],
  ['src'],
  ['plugins/debug', 'plugins/debug/panels'],
  ['.', 'routes', 'routes/api'],
  ['plugins/debug/profiler', 'plugins/debug/profiler/views'],
  ['src/command-line', 'src/entities', 'src/store']
]

const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.test.js'))
const others = [...new Set(files.map(file => dirname(file)))].filter(folder => !shared.flat().includes(folder)).sort()

// One more than there are processors: some tests wait for a process or a database.
t.jobs = availableParallelism() + 1
for (const folders of [...shared, ...others.map(folder => [folder])]) {
  t.spawn(process.execPath, [...process.execArgv, join(import.meta.dirname, 'run-folders.js'), ...folders], { timeout: 600_000, buffered: true }, folders.join(', '))
}
