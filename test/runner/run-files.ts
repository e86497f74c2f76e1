import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { shareTestDatabase } from '../support/test-database.ts'

// Runs a test file, or the quick ones of a folder, one after another in this process. Started by suite.ts.
const [, , place = ''] = process.argv
const files = place.endsWith('.js')
  ? [place]
  : readdirSync(place)
      .filter(name => name.endsWith('.test.js'))
      .sort()
      .map(name => join(place, name))
const closings: (() => unknown)[] = []
shareTestDatabase({ teardown: close => closings.unshift(close) })
// tap defines onEOF only for tests with a teardown.
t.teardown(() => {})
run(files)

/** Recursive, because a loop would import all files before the tests of the first one run. */
function run([file, ...others]: string[]): void {
  if (file === undefined) {
    t.test('everything that the files shared closes', async () => {
      for (const close of closings) await close()
    })
    return
  }
  t.test(file, async () => {
    const begun = performance.now()
    const failedBefore = t.counts.fail
    process.send?.({ begins: file })
    await import(pathToFileURL(resolve(file)).href)
    t.test(`everything that ${file} opened closes`, async () => {
      await t.onEOF()
      process.send?.({ ends: file, milliseconds: performance.now() - begun, isPassing: t.counts.fail === failedBefore })
    })
    run(others)
  })
}
