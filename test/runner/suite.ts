import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'

const profiler = 'plugins/debug/profiler/dist/test'

/** Groups of folders that share a process, to load the app and open a database only once. Slowest first. */
const shared = [
  ['dist/test/browser'],
  ['dist/test/src', 'dist/test/src/http', 'dist/test/src/pages'],
  ['dist/test/plugins/debug', 'dist/test/plugins/debug/panels'],
  ['dist/test', 'dist/test/stress', 'dist/test/routes', 'dist/test/routes/api'],
  [profiler, `${profiler}/views`],
  ['dist/test/src/command-line', 'dist/test/src/entities', 'dist/test/src/cache'],
]

const files = ['dist/test', profiler].flatMap(folder =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(name => join(folder, name)),
)
const folders = new Set(files.filter(file => file.endsWith('.test.js')).map(file => dirname(file)))
const others = [...folders].filter(folder => !shared.flat().includes(folder)).sort()

t.jobs = availableParallelism()
for (const folders of [...shared, ...others.map(folder => [folder])]) {
  void t.spawn(
    process.execPath,
    [...process.execArgv, join(import.meta.dirname, 'run-folders.js'), ...folders],
    { timeout: 600_000, buffered: true },
    folders.join(', '),
  )
}
