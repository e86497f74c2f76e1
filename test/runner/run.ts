import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import './prepare.ts'
import { failuresFile } from './progress.ts'

// Runs the tests of a tier, and says how long all of it took.
const [, , tier = 'test'] = process.argv

// tap's own reporters show nothing of a process before it ends, so the suite reports by itself.
const options = ['--reporter=tap', '--reporter-file=.tap/results.tap', `--test-arg=${tier}`]
if (tier !== 'test') options.push('--disable-coverage')
rmSync(failuresFile, { force: true })
const { status } = spawnSync('tap', options, { stdio: 'inherit' })

if (existsSync(failuresFile)) console.log(readFileSync(failuresFile, 'utf8'))
if (status !== 0) {
  console.log(
    readFileSync('.tap/results.tap', 'utf8')
      .match(/^ *not ok .*/gm)
      ?.join('\n'),
  )
}
const seconds = Math.round(performance.now() / 1000)
const verdict = status === 0 ? 'All tests passed' : 'Tests failed (see .tap/results.tap)'
console.log(`${verdict}. They took ${Math.floor(seconds / 60)} min ${seconds % 60} s.`)
process.exitCode = status ?? 1
