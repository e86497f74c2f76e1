import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { tellOfFile } from './progress.ts'
import { shareTestDatabase } from '../support/test-database.ts'

// Runs the test files of the given folders one after another. Started by suite.ts.
const [, , ...folders] = process.argv
const closings: (() => unknown)[] = []
shareTestDatabase({ teardown: close => closings.unshift(close) })
// tap defines onEOF only for tests with a teardown.
t.teardown(() => {})
run(folders.flatMap(folder => testsOf(folder)))

function testsOf(folder: string): string[] {
  return readdirSync(folder)
    .filter(name => name.endsWith('.test.js'))
    .sort()
    .map(name => join(folder, name))
}

/** Recursive, because a loop would import all files before the tests of the first one run. */
function run([name, ...others]: string[]): void {
  if (name === undefined) {
    t.test('Everything that the files shared is closed', async () => {
      for (const close of closings) await close()
    })
    return
  }
  t.test(name, async () => {
    const begun = performance.now()
    const failedBefore = t.counts.fail
    await import(pathToFileURL(resolve(name)).href)
    t.test(`Everything that ${name} opened is closed`, async () => {
      await t.onEOF()
      tellOfFile(name, performance.now() - begun, t.counts.fail === failedBefore)
    })
    run(others)
  })
}
