import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import { type Message, showFailure, showMessage, showTotals } from './progress.ts'

// Runs the tests of a tier: `test` has the files named *.test.ts, `more` those named *.more.ts.
const [, , tier = 'test'] = process.argv
const files = ['dist/test', 'packages/fastify-profiler/dist/test']
  .flatMap(folder => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(name => join(folder, name)))
  .filter(file => file.endsWith(`.${tier}.js`))

// Quick files of one folder share a process and a database: starting these takes longer than most files.
const places = tier === 'test' ? [...new Set(files.map(file => dirname(file)))] : files
const sizeOf = (place: string) => files.filter(file => file.startsWith(place)).length

t.jobs = availableParallelism()
t.teardown(() => showTotals(t.counts))
// Largest first, so that none runs alone at the end.
for (const place of places.sort((one, other) => sizeOf(other) - sizeOf(one))) {
  const { subtest } = t.spawn(
    process.execPath,
    [...process.execArgv, join(import.meta.dirname, 'run-files.js'), place],
    { timeout: 900_000, buffered: true },
    place,
  )
  if (subtest === null || subtest === undefined) throw new Error(`${place} was not started`)
  subtest.on('process', child => child.on('message', message => showMessage(message as Message)))
  watchFailures(subtest.parser)
}

function watchFailures(parser: typeof t.parser): void {
  parser.on('child', watchFailures)
  parser.on('assert', result => {
    if (!result.ok && !result.closingTestPoint && !result.skip && !result.todo) showFailure(result)
  })
}
